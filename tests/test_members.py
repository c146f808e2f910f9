"""Queues, losses and sources of one's own in Python: simulated, checked, and what errors say."""

from __future__ import annotations

import json
import pickle
import random
import re
import signal
import subprocess
import sys
import time
import traceback
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from conftest import load_example
from patience import PATIENCE_S
from skywave import (
    Cbr,
    Conduct,
    Control,
    DropTail,
    Flow,
    Head,
    Link,
    Losses,
    Packet,
    Probes,
    Queue,
    QueueVerdict,
    Replay,
    Scenario,
    ScenarioError,
    Source,
    SubQueue,
    Tcp,
    Udp,
    Weighted,
    control,
    dumbbell,
    losses,
    queue,
    run,
    run_many,
    source,
    sweep,
)
from skywave.lab.reading import PageError, inspect
from skywave.queue import check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from skywave.control import Ack, Loss, Timeout


OWN = load_example("own_queue")


@dataclass
class OnArrival(Queue):
    """Drop-tail that decides on arrival."""

    packets: int = 20

    def conduct(self) -> Conduct:
        return Conduct(packets=self.packets)

    def enqueue(self, packet: Packet) -> QueueVerdict:
        return "accept" if packet.packets_ahead < self.packets else "full"


@dataclass
class Holding(OnArrival):
    """Drop-tail that holds its packets."""

    def __post_init__(self) -> None:
        self.line: deque[Packet] = deque()

    def enqueue(self, packet: Packet) -> QueueVerdict:
        if len(self.line) >= self.packets:
            return "full"
        self.line.append(packet)
        return "accept"

    def dequeue(self, now_s: float) -> Packet | None:
        return self.line.popleft()


@dataclass
class Last(Holding):
    """Serves the newest packet first."""

    def conduct(self) -> Conduct:
        return Conduct(packets=self.packets, fifo=False)

    def dequeue(self, now_s: float) -> Packet:
        return self.line.pop()


@dataclass
class MarksLate(Holding):
    """Marks or drops the packets that have waited for too long, as they leave."""

    target_s: float = 0.02

    def conduct(self) -> Conduct:
        return Conduct(packets=self.packets, drops_early=True, drops_accepted=True, marks=True)

    def dequeue(self, now_s: float) -> Packet | None:
        while self.line:
            packet = self.line.popleft()
            if now_s - packet.arrived_s < self.target_s:
                return packet
            if packet.can_be_marked:
                packet.mark()
                assert packet.marked
                return packet
            packet.drop("early")
            assert not packet.waiting
        return None


def scenario(
    queue: Any = 20, *, duration: str = "5 s", ecn: bool = False, **of_link: Any
) -> Scenario:
    made = dumbbell("own", duration=duration, rate="4 Mbps", delay="20 ms", queue=queue, **of_link)
    made.add_flow("flow", "s1", "d1", Tcp(ecn=ecn))
    return made


def test_the_example_obeys_the_physics_and_each_of_its_members_has_an_effect() -> None:
    blue = OWN.simulated(OWN.Blue(packets=30, ecn=True), "10 s")
    assert blue["file"]["goodput_bps"] > 2.5e6
    assert blue["video"]["packets_sent"] == pytest.approx(4 * 30 * 10, abs=100)
    assert blue["file"]["drops"] > 0
    head = OWN.simulated(OWN.HeadDrop(packets=30), "10 s")
    assert head["file"]["goodput_bps"] != blue["file"]["goodput_bps"]
    assert min(flow["drops"] for flow in (*blue.values(), *head.values())) > 0


def test_the_overhead_is_measured_on_runs_that_send_the_same() -> None:
    overhead = load_example("queue_overhead")
    ours, rust = (
        run(overhead.file(queue, "2 s")).fingerprint
        for queue in (overhead.OnArrival(), DropTail(packets=overhead.PACKETS))
    )
    assert ours == rust
    rows = overhead.overhead("1 s", repetitions=1)
    assert len(rows) == 4
    assert all(min(times) > 0 for _, *times in rows)


def test_drop_tail_in_python_does_what_drop_tail_does() -> None:
    there = run(scenario(DropTail(packets=20)))
    assert there.totals["flows"][0]["drops"] > 0
    assert run(scenario(OnArrival())).fingerprint == there.fingerprint
    held = run(scenario(Holding()), verify_physics=True)
    assert held.violations == []
    assert held.totals["flows"][0]["drops"] == there.totals["flows"][0]["drops"]
    assert held.totals["flows"][0]["goodput_bps"] == there.totals["flows"][0]["goodput_bps"]


@pytest.mark.parametrize("ecn", [False, True])
def test_a_queue_that_marks_and_drops_what_it_holds_obeys_the_physics(ecn: bool) -> None:
    results = run(scenario(MarksLate(packets=100), ecn=ecn), verify_physics=True)
    assert results.violations == []
    [link] = [link for link in results.totals["links"] if link["name"] == "r1->r2"]
    assert (link["marks"] > 0) == ecn
    assert (link["drops"] > 0) == (not ecn)


def test_a_sub_queue_may_be_in_python() -> None:
    queues = (SubQueue(weight=3, queue=OnArrival(10)), SubQueue(weight=1, queue=Holding(10)))
    made = dumbbell(
        "own", duration="5 s", rate="4 Mbps", delay="20 ms", queue=Weighted(queues=queues), pairs=2
    )
    for index in (0, 1):
        made.add_flow(f"{index}", f"s{index + 1}", f"d{index + 1}", Tcp(), class_=index)
    results = run(made, verify_physics=True)
    assert results.violations == []
    first, second = (flow["goodput_bps"] for flow in results.totals["flows"])
    assert 2 < first / second < 4


def test_the_seed_decides_what_random_members_do() -> None:
    def made(seed: int) -> Scenario:
        made = scenario(OWN.Blue(packets=10), loss=OWN.Fading(fade_s=0.2))
        made.seed = seed
        return made

    alone = [run(made(seed)).fingerprint for seed in (1, 2, 3)]
    assert len(set(alone)) == 3
    assert [results.fingerprint for results in run_many(made(seed) for seed in (1, 2, 3))] == alone


def test_what_a_queue_is_told() -> None:
    heads: list[Head] = []
    packets: list[Packet] = []

    class Watches(OnArrival):
        def on_start(self, head: Head) -> None:
            heads.append(head)

        def enqueue(self, packet: Packet) -> QueueVerdict:
            packets.append(packet)
            return super().enqueue(packet)

    results = run(scenario(Watches(), ecn=True))
    assert {(head.link, head.rate_bps, head.delay_s) for head in heads} == {
        ("r1->r2", 4_000_000, 0.02),
        ("r2->r1", 4_000_000, 0.02),
    }
    there = [packet for packet in packets if packet.size > 500]
    assert {packet.can_be_marked for packet in there} >= {True}
    assert max(packet.packets_ahead for packet in there) == 20
    assert max(packet.bytes_ahead for packet in there) > 20 * 500
    assert any(packet.idle_since_s is not None for packet in packets)
    assert len({packet.flow for packet in packets}) == 2
    times = [packet.arrived_s for packet in packets]
    assert times == sorted(times)
    [link] = [link for link in results.totals["links"] if link["name"] == "r1->r2"]
    assert sum(packet.flow == there[0].flow for packet in packets) == link["arrivals"]


def test_inner_values_are_recorded() -> None:
    made = scenario(OWN.Blue(packets=5))
    made.probes = Probes(tables=("queues",), links=("r1->r2",))
    rows = run(made).tables["queues"].to_pylist()
    assert {row["name"] for row in rows} == {"probability"}
    assert max(row["value"] for row in rows) > 0


def test_losses_in_python_lose_what_they_say() -> None:
    class Every10th(Losses):
        count = 0

        def loses(self, now_s: float, size: int) -> bool:
            self.count += 1
            assert size == 1028
            assert now_s >= 0
            return self.count % 10 == 0

    made = dumbbell("own", duration="5 s", rate="4 Mbps", delay="20 ms", loss=Every10th())
    made.add_flow("flow", "s1", "d1", Udp(), Cbr(rate="1 Mbps", datagram="1000 B"))
    [flow] = run(made).totals["flows"]
    assert flow["drops"] == flow["packets_sent"] // 10


def test_a_source_in_python_sends_what_a_trace_sends() -> None:
    @dataclass
    class Three(Source):
        largest: int = 700

        def datagrams(self) -> Iterator[tuple[float, int]]:
            yield 0.5, 700
            yield 0.5, 200
            yield 1.25, 300

    def made(source: Any) -> Scenario:
        there = dumbbell("own", duration="5 s", rate="4 Mbps", delay="20 ms")
        there.add_flow("flow", "s1", "d1", Udp(), source, start="1 s")
        return there

    replay = Replay(times=("0.5 s", "0.5 s", "1.25 s"), sizes=("700 B", "200 B", "300 B"))
    results = run(made(Three()))
    assert results.fingerprint == run(made(replay)).fingerprint
    assert results.totals["flows"][0]["bytes_sent"] == 1200


@pytest.mark.parametrize(
    "queue",
    [OnArrival(), Holding(), Last(), MarksLate(), OWN.Blue(ecn=True), OWN.HeadDrop()],
    ids=str,
)
def test_a_queue_is_held_to_the_contract(queue: Queue) -> None:
    check(queue)


def queue_of(body: str, conduct: str = "packets=2", base: type[Queue] = Holding) -> Queue:
    """Return a queue whose ``enqueue`` or ``dequeue`` does something, once it has held packets."""
    name, _, code = body.partition(": ")
    space: dict[str, Any] = {"Conduct": Conduct, "Packet": Packet}
    source = f"""
def conduct(self): return Conduct({conduct})
def {name}(self, *given):
    self.calls = getattr(self, "calls", 0) + 1
    if self.calls > 4:
        {code}
    return super(kind, self).{name}(*given)
"""
    exec(source, space)  # noqa: S102  (an answer of a test below)
    kind = type("Wrong", (base,), {"conduct": space["conduct"], name: space[name]})
    space["kind"] = kind
    queue: Queue = kind(2)
    return queue


WRONG = [
    ("enqueue: return None", "packets=2", 'returned None: return "accept"'),
    ("enqueue: return 'keep'", "packets=2", "returned 'keep': return \"accept\""),
    ("enqueue: return 7", "packets=2", 'returned 7: return "accept"'),
    ("enqueue: return 'mark'", "packets=100", "it does not declare marks: return Conduct"),
    ("enqueue: return 'mark'", "packets=100, marks=True", "this packet cannot be marked"),
    ("enqueue: return 'early'", "packets=2", "it does not declare early drops"),
    ("enqueue: return 'full'", "packets=100", "fits: "),
    ("enqueue: return 'accept'", "packets=2", "does not fit: 2 packets"),
    ("enqueue: given[0].drop('early')", "packets=2", "cannot drop a packet that arrives"),
    ("enqueue: given[0].mark()", "packets=2, marks=True", "cannot mark a packet that arrives"),
    ("enqueue: self.line.popleft().drop('slow')", "packets=2", 'for the reason "slow"'),
    ("enqueue: self.line.popleft().drop('full')", "packets=2", "drops_accepted=True"),
    ("enqueue: 1 / 0", "packets=2", "division by zero"),
    ("dequeue: return None", "packets=2", "returned None: "),
    ("dequeue: return 7", "packets=2", "returned 7: return a packet that is waiting"),
    ("dequeue: return Packet()", "packets=2", "return a packet that is waiting"),
    ("dequeue: return self.line.pop()", "packets=2", "not the oldest"),
    ("dequeue: self.line[0].mark()", "packets=2", "cannot mark a packet, since the queue"),
    (
        "dequeue: p = super(kind, self).dequeue(*given); p.drop('early'); p.drop('early')",
        "packets=2",
        "cannot drop a packet that has left",
    ),
    ("dequeue: 1 / 0", "packets=2", "division by zero"),
]


@pytest.mark.parametrize(("body", "conduct", "complaint"), WRONG)
def test_a_wrong_answer_ends_the_run_and_breaks_the_contract(
    body: str, conduct: str, complaint: str
) -> None:
    queue = queue_of(body, conduct)
    with pytest.raises((ValueError, ZeroDivisionError)) as raised:
        run(scenario(queue, duration="100000 s"))
    assert complaint in str(raised.value)
    assert raised.value.__notes__ == ['in link "r1->r2" of scenario "own"']
    assert "Wrong." in str(raised.value) or raised.value.__traceback__ is not None
    with pytest.raises(AssertionError, match="seed 0, call") as broken:
        check(queue)
    assert isinstance(broken.value.__cause__, ValueError | ZeroDivisionError)


def test_an_exception_has_its_traceback_and_a_wrong_answer_the_place_of_the_method() -> None:
    class Fails(OnArrival):
        def enqueue(self, packet: Packet) -> QueueVerdict:
            raise LookupError("in enqueue")

    class Answers(OnArrival):
        def enqueue(self, packet: Packet) -> QueueVerdict:
            return "no"  # type: ignore[return-value]

    with pytest.raises(LookupError, match="in enqueue") as raised:
        run(scenario(Fails()))
    last = traceback.extract_tb(raised.value.__traceback__)[-1]
    assert (last.name, last.filename) == ("enqueue", __file__)
    line = Answers.enqueue.__code__.co_firstlineno
    with pytest.raises(
        ValueError, match=r"^Answers\.enqueue \(.*, line \d+\) returned 'no'"
    ) as why:
        run(scenario(Answers()))
    assert f"({__file__}, line {line})" in str(why.value)


class Unsure(Losses):
    def loses(self, now_s: float, size: int) -> bool:
        return 0  # type: ignore[return-value]


class Fails(Losses):
    def loses(self, now_s: float, size: int) -> bool:
        raise LookupError("in loses")


def with_source(source: Source) -> Scenario:
    made = dumbbell("own", duration="5 s", rate="4 Mbps", delay="20 ms")
    made.add_flow("flow", "s1", "d1", Udp(), source)
    return made


def source_of(items: str) -> Source:
    space: dict[str, Any] = {}
    exec(f"def datagrams(self):\n    yield from {items}", space)  # noqa: S102
    made: Source = type("Wrong", (Source,), {"largest": 1000, **space})()
    return made


@pytest.mark.parametrize(
    ("loss", "kind", "complaint"),
    [
        (Unsure(), ValueError, "returned 0: return True or False"),
        (Fails(), LookupError, "in loses"),
    ],
)
def test_a_wrong_loss_model_ends_the_run(
    loss: Losses, kind: type[Exception], complaint: str
) -> None:
    with pytest.raises(kind, match=complaint) as raised:
        run(scenario(loss=loss))
    assert raised.value.__notes__ == ['in link "r1->r2" of scenario "own"']
    with pytest.raises(AssertionError, match=f"seed 0: .*{complaint}") as broken:
        losses.check(loss)
    assert isinstance(broken.value.__cause__, kind)


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        ("[7]", "yielded 7: yield the time in seconds"),
        ("[(1, 'x')]", "yield the time in seconds"),
        ("[(-1, 10)]", "a time is between 0"),
        ("[(float('nan'), 10)]", "a time is between 0"),
        ("[(2, 10), (1, 10)]", "the one before it was at 2 s"),
        ("[(1, 0)]", "a size is between 1 and 1000 bytes"),
        ("[(1, 1001)]", "a size is between 1 and 1000 bytes"),
        ("[(0, 10), (1 / 0, 10)]", "division by zero"),
    ],
)
def test_a_wrong_source_ends_the_run(items: str, complaint: str) -> None:
    made = with_source(source_of(items))
    with pytest.raises((ValueError, ZeroDivisionError)) as raised:
        run(made)
    assert complaint in str(raised.value)
    assert raised.value.__notes__ == ['in flow "flow" of scenario "own"']
    with pytest.raises(AssertionError, match="seed 0: ") as broken:
        source.check(source_of(items))
    assert complaint in str(broken.value)


ASKED: list[float] = []


class Asked(Losses):
    def loses(self, now_s: float, size: int) -> bool:
        ASKED.append(now_s)
        return True


def test_a_check_asks_no_loss_model_about_packets_that_nobody_sends() -> None:
    ASKED.clear()
    assert scenario(loss=Asked()).inspect().warnings == ()
    assert ASKED == []
    run(scenario(loss=Asked()))
    assert ASKED


class Forgetful(Losses):
    def loses(self, now_s: float, size: int) -> bool:
        return random.random() < 0.5  # noqa: S311  (not its own generator)


def test_losses_and_sources_are_held_to_their_contract() -> None:
    losses.check(OWN.Fading(), seeds=3)
    source.check(OWN.Video(), seeds=3)
    with pytest.raises(AssertionError, match="seed 0: two runs differ"):
        losses.check(Forgetful())
    with pytest.raises(AssertionError, match="two runs differ"):
        source.check(
            source_of("((n / 9, __import__('random').randint(1, 999)) for n in range(50))")
        )


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        ("((0, 10) for _ in iter(int, 1))", "too many datagrams by 0 s: let the time grow"),
        ("()", "nothing is sent in the first 10 s"),
        ("[(11, 10)]", "nothing is sent in the first 10 s"),
    ],
)
def test_a_source_that_cannot_be_checked_is_refused(items: str, complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        source.check(source_of(items), seeds=1)


@pytest.mark.parametrize("module", [control, losses, queue, source])
def test_what_is_checked_is_an_object_and_at_least_once(module: Any) -> None:
    count = "cases" if module is control else "seeds"
    with pytest.raises(TypeError, match=r"Fading is a class: give an instance, Fading\(\)"):
        module.check(OWN.Fading)
    with pytest.raises(TypeError, match="'red' is not a control, a queue, a loss model or a"):
        module.check("red")
    one: dict[Any, Any] = {
        control: InterruptedControl(),
        losses: Fails(),
        queue: Interrupted(),
        source: source_of("()"),
    }
    with pytest.raises(ValueError, match=f"{count} is 0: give at least 1"):
        module.check(one[module], **{count: 0})


class Interrupted(Queue):
    """As if Ctrl-C came while it decides."""

    def conduct(self) -> Conduct:
        return Conduct(packets=5)

    def enqueue(self, packet: Packet) -> QueueVerdict:
        raise KeyboardInterrupt


class InterruptedControl(Control):
    def __init__(self) -> None:
        self.cwnd = 4.0

    def on_ack(self, ack: Ack) -> None:
        raise KeyboardInterrupt

    def on_loss(self, loss: Loss) -> None:
        raise KeyboardInterrupt

    def on_timeout(self, timeout: Timeout) -> None:
        raise KeyboardInterrupt


def test_an_interrupt_is_no_violation() -> None:
    with pytest.raises(KeyboardInterrupt):
        queue.check(Interrupted())
    with pytest.raises(KeyboardInterrupt):
        control.check(InterruptedControl())


class NoConduct(Queue):
    def enqueue(self, packet: Packet) -> QueueVerdict:
        return "accept"


class OtherConduct(NoConduct):
    def conduct(self) -> Conduct:
        return 5  # type: ignore[return-value]


class WrongConduct(NoConduct):
    def conduct(self) -> Conduct:
        return Conduct(packets=0)


class ReordersNothing(NoConduct):
    def conduct(self) -> Conduct:
        return Conduct(fifo=False)


class NoLoses(Losses):
    pass


class NoSize(Source):
    def datagrams(self) -> Iterator[tuple[float, int]]:
        yield 0, 1


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (
            lambda: scenario(NoConduct()),
            r"dumbbell\.queue\..*:NoConduct: NoConduct has no method conduct: define it",
        ),
        (lambda: scenario(OtherConduct()), "OtherConduct.conduct returned 5: return a Conduct"),
        (lambda: scenario(WrongConduct()), "cannot be called: ValueError: packets is 0"),
        (
            lambda: scenario(ReordersNothing()),
            "has no method dequeue, so it holds no packets: leave out fifo=False",
        ),
        (lambda: scenario(loss=NoLoses()), r"dumbbell\.loss\..*NoLoses has no method loses"),
        (
            lambda: with_source(NoSize()),
            r"flows\[0\]\.source\..*NoSize.largest is None",
        ),
        (lambda: scenario(OWN.Fading()), "is not a subclass of skywave.Queue"),
        (lambda: scenario(OnArrival({1})), "which JSON cannot hold"),  # type: ignore[arg-type]
    ],
)
def test_a_member_that_cannot_be_used_names_the_field(
    make: Callable[[], Scenario], complaint: str
) -> None:
    with pytest.raises((ScenarioError, ValueError), match=complaint):
        run(make())


FILE = """
name = "file"
duration = "2 s"

[dumbbell]
pairs = 1
rate = "4 Mbps"
delay = "20 ms"
queue = QUEUE
loss = { "its_members:Never" = {} }
access_rate = "100 Mbps"
access_delays = ["1 ms"]

[[flows]]
name = "flow"
from = "s1"
to = "d1"
transport = { udp = {} }
source = { "its_members:Steady" = { largest = 500 } }
"""
MODULE = """
from dataclasses import dataclass
from skywave import Conduct, Losses, Queue, Source

@dataclass
class Short(Queue):
    packets: int = 3

    def conduct(self):
        return Conduct(packets=self.packets)

    def enqueue(self, packet):
        return "accept" if packet.packets_ahead < self.packets else "full"

class Never(Losses):
    def loses(self, now_s, size):
        return False

@dataclass
class Steady(Source):
    largest: int = 1000

    def datagrams(self):
        return ((number * 0.01, self.largest) for number in range(100))

class Fails(Short):
    def enqueue(self, packet):
        raise LookupError("of no use")
"""


@pytest.fixture
def its_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "its_members.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "its_members", raising=False)
    return tmp_path


@pytest.mark.usefixtures("its_members")
def test_a_file_names_members_as_module_and_class() -> None:
    text = FILE.replace("QUEUE", '"its_members:Short"')
    made = Scenario.from_text(text, "toml")
    [queue, loss, source] = made.members()
    assert (queue.parameters, loss.parameters, source.parameters) == (
        {"packets": 3},
        {},
        {"largest": 500},
    )
    assert made.normalised()["dumbbell"]["queue"] == {"its_members:Short": {"packets": 3}}
    [flow] = run(made).totals["flows"]
    assert flow["packets_sent"] == 100
    again = Scenario.from_text(made.to_json(), "json")
    assert again.digest() == made.digest()
    longer = Scenario.from_text(text.replace("= 500", "= 501"), "toml")
    assert longer.digest() != made.digest()
    for value, complaint in (
        (
            '{ "its_members:Short" = { packet = 3 } }',
            "dumbbell.queue.its_members:Short.packet: Short has no such parameter: use packets",
        ),
        ('{ "its_members:Short" = { packets = "3" } }', "takes a whole number, not"),
        ('"its_members:Long"', "has no class Long"),
        ('"no_such_module:Short"', "there is no such module"),
    ):
        with pytest.raises(ScenarioError, match=r"dumbbell\.queue") as raised:
            Scenario.from_text(FILE.replace("QUEUE", value), "toml")
        assert complaint in str(raised.value)
        assert "\n" not in str(raised.value)


def test_the_command_runs_and_sweeps_them(its_members: Path) -> None:
    (its_members / "own.toml").write_text(FILE.replace("QUEUE", '"its_members:Short"'))

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "skywave", *arguments],
            cwd=its_members,
            capture_output=True,
            text=True,
            check=False,
        )

    ran = command("run", "own.toml", "--json")
    assert json.loads(ran.stdout)["flows"][0]["packets_sent"] == 100
    swept = command(
        "sweep",
        "own.toml",
        "--measure",
        "goodput",
        "--out",
        "out",
        "--seeds",
        "2",
        "--set",
        'dumbbell.queue={ "its_members:Short" = { packets = 1 } },{ drop-tail = { packets = 1 } }',
    )
    assert swept.returncode == 0, swept.stderr
    assert "its_members:Short" in swept.stdout
    failed = command("run", "own.toml", "--set", 'dumbbell.queue="its_members:Fails"')
    assert failed.returncode != 0
    assert "its_members.py" in failed.stderr
    assert "LookupError: of no use" in failed.stderr
    assert 'in link "r1->r2" of scenario "file"' in failed.stderr


def test_they_are_swept_in_python(tmp_path: Path) -> None:
    points = sweep(
        scenario(duration="2 s"),
        over={"dumbbell.queue": [OnArrival(5), DropTail(packets=5), OnArrival(10)]},
        measures=["goodput"],
        seeds=1,
        out=tmp_path / "out",
    )
    values = {row["queue"]: row["goodput_bps"] for row in points.table.to_pylist()}
    assert values["OnArrival(packets=5)"] == values["drop-tail packets=5"]
    assert values["OnArrival(packets=5)"] != values["OnArrival(packets=10)"]


def test_a_member_is_pickled_as_its_class_and_parameters() -> None:
    for member in (OnArrival(7), OWN.Fading(fade_s=0.1), OWN.Video(packets=2)):
        again = pickle.loads(pickle.dumps(member))  # noqa: S301
        assert (type(again), again.parameters) == (type(member), member.parameters)
        assert again.source_hash() == member.source_hash()


def test_members_of_links_and_their_reverse_directions_are_known() -> None:
    made = Scenario(name="own", duration="1 s", nodes=["a", "b"])
    made.links.append(
        Link(from_="a", to="b", rate="1 Mbps", delay="1 ms", queue=OnArrival(3), loss=OWN.Fading())
    )
    made.flows.append(Flow(name="f", from_="a", to="b", transport=Udp(), source=OWN.Video()))
    assert [type(member).__name__ for member in made.members()] == ["OnArrival", "Fading", "Video"]
    assert run(made).totals["flows"][0]["packets_sent"] > 0


def test_a_page_loads_no_members_in_python() -> None:
    text = FILE.replace("QUEUE", '{ "os:system" = {} }')
    with pytest.raises(
        PageError, match='"os:system" is a queue in Python, which a page may not load'
    ):
        inspect(text)
    with pytest.raises(PageError, match="is a loss model in Python"):
        inspect(FILE.replace("QUEUE", '"unlimited"'))


STUCK = """
import os, sys, time
from pathlib import Path

from skywave import Cbr, Conduct, Queue, Udp, dumbbell, run_many

class Stuck(Queue):
    def conduct(self):
        return Conduct(packets=5)

    def enqueue(self, packet):
        Path(sys.argv[1]).touch()
        HOLD

scenario = dumbbell("stuck", duration="5 s", rate="2 Mbps", delay="10 ms", queue=Stuck())
scenario.add_flow("call", "s1", "d1", Udp(), Cbr(rate="1 Mbps", datagram="500 B"))
try:
    list(run_many([scenario] * 4))
except KeyboardInterrupt:
    print("interrupted", flush=True)
    os._exit(0)
"""
HOLDING = ("while True: pass", "time.sleep(3600)")
"""A callback that can be interrupted, and one that cannot."""


@pytest.mark.parametrize("hold", HOLDING)
def test_an_interrupt_ends_runs_that_a_callback_holds(hold: str, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    with subprocess.Popen(
        [sys.executable, "-c", STUCK.replace("HOLD", hold), begun],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        while not begun.exists():
            assert process.poll() is None
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=PATIENCE_S)
    assert out == "interrupted\n"


HELD = """
import time
from pathlib import Path

from skywave import Losses

class Held(Losses):
    def loses(self, now_s, size):
        Path("begun").touch()
        HOLD
"""


@pytest.mark.parametrize("hold", HOLDING)
def test_an_interrupt_ends_a_sweep_that_a_callback_holds(hold: str, tmp_path: Path) -> None:
    (tmp_path / "held.py").write_text(HELD.replace("HOLD", hold))
    lossy = FILE.replace("QUEUE", '"unlimited"').replace("its_members:Never", "held:Held")
    lossy = re.sub(
        "source = .*", 'source = { cbr = { rate = "1 Mbps", datagram = "500 B" } }', lossy
    )
    (tmp_path / "held.toml").write_text(lossy)
    command = ("-m", "skywave", "sweep", "held.toml", "--seeds", "4", "--out", "out")
    with subprocess.Popen(
        [sys.executable, *command], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    ) as process:
        while not (tmp_path / "begun").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        try:
            _, errors = process.communicate(timeout=PATIENCE_S)
        finally:
            process.kill()
    assert (process.returncode, errors.splitlines()[-1]) == (130, "interrupted")
