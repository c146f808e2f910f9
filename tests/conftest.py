"""What several tests need: the command line, and one reproduction of each paper."""

from __future__ import annotations

import fcntl
import html
import importlib.util
import io
import json
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import matplotlib.image
import pytest

import skywave
from patience import PATIENCE_S
from skywave import Bernoulli, Dccp, Scenario, Tcp, cli, dumbbell, papers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import ModuleType

    from skywave.papers.reproduction import Reproduction

# A shell that starts tests in the background has them ignore interrupts, and what they start too:
# tests that interrupt something need that undone.
signal.signal(signal.SIGINT, signal.default_int_handler)
# pytest-xdist sets it for its workers, and output that goes nowhere would be that narrow.
os.environ.pop("COLUMNS", None)

pytest_plugins = ["lab"]  # the fixtures of its page


def pytest_xdist_auto_num_workers() -> int:
    """Return how many tests run at a time: one more than there are processors, since many wait."""
    return (os.cpu_count() or 1) + 1


ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
CAPTURES = ROOT / "validation" / "captures"

# tshark and ns-2 are judges from outside that not every machine has. What they are asked nobody
# else can answer, so without them there is nothing to check; continuous integration installs both.
needs_tshark = pytest.mark.skipif(
    not shutil.which("tshark"), reason="tshark is not installed: apt-get install tshark"
)
needs_checkout = pytest.mark.skipif(
    not Path(skywave.__file__).is_relative_to(ROOT / "python"),
    reason="the package that is tested has no checkout around it: make setup",
)
needs_ns2 = pytest.mark.skipif(
    not shutil.which("ns"), reason="ns-2 is not installed: apt-get install ns2"
)


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def run_cli(*arguments: object, cwd: Path = ROOT) -> Done:
    """Run the command line here, which spares the start of an interpreter."""
    stdout, stderr = io.StringIO(), io.StringIO()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    with (
        chdir(cwd),
        mock.patch.object(sys, "argv", ["skywave", *map(str, arguments)]),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
        pytest.raises(SystemExit) as exit_,
    ):
        cli.main()
    # The command line takes them for the rest of the process.
    for number, handler in handlers.items():
        signal.signal(number, handler)
    status = exit_.value.code
    assert isinstance(status, int)
    return Done(status, stdout.getvalue(), stderr.getvalue())


def run_process(*arguments: object) -> Done:
    """Run the command line in a process of its own, as a shell does."""
    command = [sys.executable, "-m", "skywave", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@contextmanager
def serving(
    *arguments: str, says: str = "listening"
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command that waits for others, from when it says so until the block ends.

    Gives it, and what it has written on standard error until then.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "skywave", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        try:
            assert process.stderr is not None
            said = ""
            while says not in said:
                line = process.stderr.readline()
                assert line, f"it ended without saying {says!r}: {said!r}"
                said += line
            yield process, said
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
            process.wait(timeout=PATIENCE_S)
        finally:
            process.kill()


def assert_bad_input(done: Done, *names: str) -> None:
    """Assert that the input was refused: status 2, one line on stderr that names these."""
    assert done.returncode == 2, done.stderr
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr
    assert "Traceback" not in done.stderr
    for name in names:
        assert name in done.stderr


def assert_figures_are_whole(report: Path) -> None:
    """Assert that the margins of a report's figures cut nothing off: their edges are white."""
    figures = sorted((report / "figures").glob("*.png"))
    assert figures
    for path in figures:
        pixels = matplotlib.image.imread(path)[..., :3]
        for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
            assert edge.min() == 1, path.name


def assert_report_is_whole(report: Reproduced) -> None:
    """Assert what holds for the report of every paper.

    It begins with the finding, has every parameter and sentence, quotes the sentence of each claim,
    gives a reason for each mismatch, and no figure is cut off.
    """
    document, page = report.document, html.unescape(report.page)
    ledger = papers.installed.paper(document["paper"]).ledger
    for parameter in ledger.parameters:
        assert parameter.name in page
    for quotation in ledger.sentence:
        assert f"“{quotation.says}”" in " ".join(page.split())
    assert ledger.finding is not None
    figure = f"figures/{ledger.finding.figure}.png"
    assert page.index(document["finding"]) < page.index(figure) < page.index("<h2 ")
    assert page.count(figure) == 1
    ids = [one["id"] for one in (*document["cells"], *document["claims"])]
    assert sorted(ids) == sorted({*ledger.values, *ledger.claims})
    for claim in document["claims"]:
        assert claim["quote"] in page
    for one in (*document["cells"], *document["claims"]):
        assert (one["why"] is None) == (one["verdict"] == "match")
        assert one["why"] != "not explained yet", one["id"]
        assert one["why"] is None or len(one["why"]) > 40, one["id"]
    assert_figures_are_whole(report.directory)


def words(page: str) -> str:
    """Return the text of a page of HTML."""
    body = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", body)).split())


@dataclass(frozen=True)
class Reproduced:
    """What reproducing a paper wrote, and the tables of its report's own sections."""

    directory: Path
    brief: Reproduction
    sections: Mapping[str, Any]
    document: Mapping[str, Any]
    page: str

    @property
    def cells(self) -> dict[str, dict[str, Any]]:
        """The judged values by id."""
        return {cell["id"]: cell for cell in self.document["cells"]}


def _kept(sections: Mapping[str, Any]) -> dict[str, Any]:
    """Return what can be pickled of the values of a report's template: no modules and lambdas."""
    kept = {}
    for name, value in sections.items():
        with suppress(TypeError, AttributeError, pickle.PicklingError):
            pickle.dumps(value)
            kept[name] = value
    return kept


@pytest.fixture(scope="session")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Reproduced]:
    """Reproduce a paper, once for the tests of all processes, with ns-2's stored answers."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "reproduced"
    shared.mkdir(exist_ok=True)

    @cache
    def reproduce(key: str, seeds: int | None = None) -> Reproduced:
        directory = shared / f"{key}-{seeds}"
        pickled = directory.with_suffix(".pickle")
        with directory.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not pickled.exists():
                reproduction = papers.reproduce(key, live_ns2=False, seeds=seeds)
                reproduction.write(directory)
                kept = _kept(reproduction.sections)
                pickled.write_bytes(pickle.dumps((reproduction.brief(), kept)))
        brief, sections = pickle.loads(pickled.read_bytes())  # noqa: S301  (our own)
        return Reproduced(
            directory,
            brief,
            sections,
            json.loads((directory / "report.json").read_text()),
            (directory / "report.html").read_text(),
        )

    return reproduce


def small_scenario() -> Scenario:
    """A run of milliseconds in which seeds matter."""
    scenario = dumbbell(
        "small",
        duration="2 s",
        rate="2 Mbps",
        delay="10 ms",
        queue=10,
        loss=Bernoulli(probability=0.01),
    )
    scenario.add_flow("file", "s1", "d1", Tcp())
    scenario.add_flow("stream", "s1", "d1", Dccp(), start="500 ms")
    return scenario


@pytest.fixture
def base() -> Scenario:
    return small_scenario()


@pytest.fixture
def base_file(base: Scenario, tmp_path: Path) -> Path:
    file = tmp_path / "base.json"
    file.write_text(base.to_json())
    return file


def load_example(name: str) -> ModuleType:
    """Return an example as a module, which scenarios may name."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
