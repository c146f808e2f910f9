"""The door for papers: a stranger's is as good as ours, and one that is broken harms no other."""

from __future__ import annotations

import html
import importlib
import json
import re
import subprocess
import sys
import tomllib
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT, assert_bad_input, assert_figures_are_whole, run_cli, words
from skywave import Progress
from skywave.bench import speed
from skywave.bench.measurement import BenchError
from skywave.papers import __main__ as storing
from skywave.papers import installed
from skywave.papers.errors import BrokenPaperError, UnknownPaperError
from skywave.papers.front import reproduce_all
from skywave.papers.ns2 import Ns2Error
from skywave.papers.protocol import PROTOCOL, Paper, TimedRun

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    Install = Callable[..., None]

STRANGER = ROOT / "tests" / "third_party_paper"
KEY = "mathis1997"


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Install distributions for this test: their metadata, and modules of one file."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(site)

    def add(name: str, entry_points: Mapping[str, str], modules: Mapping[str, str]) -> None:
        info = site / f"{name}-2.5.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.5\n")
        lines = [f"{key} = {value}" for key, value in entry_points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{installed.GROUP}]", *lines]))
        for module, text in modules.items():
            (site / f"{module}.py").write_text(text)
            monkeypatch.delitem(sys.modules, module, raising=False)

    return add


@pytest.fixture
def stranger(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the paper of somebody else, as its pyproject.toml says."""
    project = tomllib.loads((STRANGER / "pyproject.toml").read_text())["project"]
    install(project["name"], project["entry-points"][installed.GROUP], {})
    monkeypatch.syspath_prepend(STRANGER / "src")


@pytest.mark.usefixtures("stranger")
def test_a_strangers_paper_is_reproduced(tmp_path: Path) -> None:
    done = run_cli("reproduce", KEY, "--json", "--out", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["title"].startswith("The Macroscopic Behavior of the TCP")
    verdicts = {cell["id"]: cell["verdict"] for cell in document["cells"]}
    assert verdicts == {"C/p=0.001": "match", "C/p=0.03": "mismatch"}
    page = html.unescape((tmp_path / "m" / "report.html").read_text())
    assert "Where losses are rare, TCP sends" in page, "from its own template"
    assert "1 of 2 published values match" in words(page), "from the one that it extends"
    assert "data:image/svg+xml;base64," in page
    assert (tmp_path / "m" / "series" / "loss0.01-flows.csv").is_file()
    assert (tmp_path / "m" / "scenarios" / "loss0.01.json").is_file()
    assert_figures_are_whole(tmp_path / "m")


@pytest.mark.usefixtures("stranger")
def test_the_terminal_shows_counts_and_reasons_only_if_asked(tmp_path: Path) -> None:
    done = run_cli("reproduce", KEY, "--out", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    (row,) = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert row.strip("│").replace("│", " ").split() == ["C", "2", "1", "0", "0"]
    assert done.stdout.endswith(f"Report: {tmp_path / 'm' / 'report.html'}\n")
    assert "--why" in done.stdout
    reason = "The equation ignores timeouts"
    assert reason not in done.stdout
    explained = run_cli("reproduce", KEY, "--why", "--out", tmp_path / "m")
    told = words(explained.stdout)
    assert told.index(reason) < told.index("C/p=0.03, ")
    # What it is about: with what is ours compared, and by which rule?
    assert re.search(r"C/p=0\.03, [^:]+: published [\d.]+ \(allowed: within 10 %\), ours", told), (
        told
    )


@pytest.mark.usefixtures("stranger")
def test_the_terminal_has_a_row_for_each_paper(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "all_keys", lambda: [KEY])
    done = run_cli("reproduce", "--all", "--why", "--out", tmp_path / "all")
    assert done.returncode == 0, done.stderr
    rows = [line.strip("│").split("│") for line in done.stdout.splitlines() if line[0:1] == "│"]
    assert [[field.strip() for field in row] for row in rows] == [
        [KEY, "1 of 2", "-", "-"],
        ["all", "1 of 2", "-", "-"],
    ]
    assert "The equation ignores timeouts" in done.stdout


@pytest.mark.usefixtures("stranger")
def test_it_is_among_all_papers(
    install: Install, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By worker processes; ours are hidden from ``--all``, since they take long."""
    install("wreck", {"wreck2024": "wreck2024:PAPER"}, {"wreck2024": "import nowhere_at_all"})
    every = installed.all_keys()
    assert {KEY, "wreck2024", "nor2011"} <= set(every)
    monkeypatch.setattr(installed, "all_keys", lambda: [KEY, "wreck2024"])
    done = run_cli("reproduce", "--all", "--json", "--out", tmp_path / "all")
    assert done.returncode == 1, done.stderr
    document = json.loads(done.stdout)
    assert [paper["paper"] for paper in document["papers"]] == [KEY]
    assert (document["values"], document["matches"]) == (2, 1)
    assert list(document["broken"]) == ["wreck2024"]
    # Progress is reported if it takes long.
    (warning,) = [line for line in done.stderr.splitlines() if not line.endswith(" %")]
    assert warning.startswith("warning: wreck2024 of wreck 2.5 cannot be imported")
    page = html.unescape((tmp_path / "all" / "report.html").read_text())
    assert f'href="{KEY}/report.html"' in page
    assert document["broken"]["wreck2024"] in page
    assert (tmp_path / "all" / KEY / "report.html").is_file()


def test_without_any_paper_it_is_said_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installed, "GROUP", "skywave.no-papers")
    with pytest.raises(UnknownPaperError, match="reinstall skywave"):
        reproduce_all(tmp_path / "all")
    assert list(tmp_path.iterdir()) == []
    assert_bad_input(run_cli("reproduce", "nor2011"), "nor2011", "make setup")


QUICK = """
import math
from skywave.papers.measures import Measures
from skywave.papers.protocol import RunOutput
from skywave.papers.ns2 import Ns2Source

RUN = lambda _: RunOutput(
    measured={rate: 1e6 for rate in (0.001, 0.003, 0.01, 0.03)},
    scenarios={},
    results={},
    ns2=Ns2Source("stored", "was not asked"),
)
"""
"""A run of the stranger's paper that takes no time."""
PAPER = """
from dataclasses import replace
from mathis1997 import PAPER as OTHER

LEDGER = replace(OTHER.ledger, paper=replace(OTHER.citation, key="{key}"))
PAPER = replace(OTHER, ledger=LEDGER, {more})
"""
"""A module of another paper, for which most is as in the stranger's."""


def another(key: str, **more: object) -> dict[str, str]:
    """Return the module of a paper that differs in some of its fields, given as code."""
    return {key: PAPER.format(key=key, more=", ".join(f"{k}={v}" for k, v in more.items()))}


WRECKS: list[tuple[str, dict[str, str], list[str]]] = [
    ("gone2024", {}, ["cannot be imported", "ModuleNotFoundError", "uninstall"]),
    ("raises2024", {"raises2024": "1 / 0"}, ["cannot be imported", "ZeroDivisionError"]),
    ("lacks2024", {"lacks2024": ""}, ["cannot be imported", "PAPER"]),
    ("title2024", {"title2024": "PAPER = 'A title'"}, ["is not a paper but str"]),
    ("new2024", another("new2024", protocol=PROTOCOL + 1), [f"protocol {PROTOCOL + 1}", "install"]),
    ("other2024", {"other2024": another("o2024")["o2024"]}, ["has the key o2024", "entry point"]),
    ("bare2024", another("bare2024", package="'json'"), ["json lacks templates/paper.html.j2"]),
    ("Up..2024", {"Up": ""}, ["cannot name a directory", "lower-case letters"]),
]


@pytest.mark.usefixtures("stranger")
@pytest.mark.parametrize(("key", "modules", "names"), WRECKS, ids=[wreck[0] for wreck in WRECKS])
def test_a_broken_paper_is_named_and_harms_no_other(
    key: str, modules: dict[str, str], names: list[str], install: Install
) -> None:
    install("wreck", {key: f"{next(iter(modules), key)}:PAPER"}, modules)
    done = run_cli("reproduce", key)
    assert_bad_input(done, f"{key} of wreck 2.5", *names)
    listed = run_cli("papers", "--json")
    document = json.loads(listed.stdout)
    assert set(document["papers"]) == set(installed.all_keys()) - {key}
    assert set(document["papers"]) >= {KEY, "nor2011"}
    assert document["broken"][key] in " ".join(done.stderr.split())


FAILURES: list[tuple[str, str, list[str]]] = [
    ("measures", "lambda _: 1 / 0", ["fails in __init__.py, line 18 (ZeroDivisionError: division"]),
    ("figures", "lambda _: [][1]", ["fails in __init__.py, line 18 (IndexError: list index out"]),
    ("run", "lambda _: {}['rate']", ["fails in __init__.py, line 18 (KeyError: 'rate'): fix"]),
    ("sections", "lambda _: {'x': min([])}", ["(ValueError: min() arg is an empty sequence)"]),
    ("comparisons", "lambda _: None.x", ["(AttributeError: 'NoneType' object has no"]),
    ("readings", "lambda _: math.sqrt(-1)", ["(ValueError: math domain error)"]),
    (
        "measures",
        "lambda _: Measures({'C/p=0.001': 1.2, 'C/p=0.03': '1.2'})",
        ["paper.toml, line 12: value[0]: fails2024: the measurement of C/p=0.03 is '1.2'"],
    ),
    (
        "measures",
        "lambda _: Measures({'C/p=0.001': 1.2, 'C/p=0.03': math.nan})",
        ["paper.toml, line 12: value[0]: ", "is nan: give a number or None"],
    ),
    ("package", "__name__", ["fails in templates/paper.html.j2, line 2 (UndefinedError: 'nobody'"]),
]
"""What fails when a paper is run: a field, its value as code, and what the error says."""


@pytest.mark.usefixtures("stranger")
@pytest.mark.parametrize(("field", "code", "names"), FAILURES)
def test_a_paper_whose_code_fails_is_named_with_file_and_line(
    field: str,
    code: str,
    names: list[str],
    install: Install,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    key = "fails2024"
    install("fails", {key: f"{key}:PAPER"}, {})
    monkeypatch.delitem(sys.modules, key, raising=False)
    more = ", ".join(
        f"{name}={value}"
        for name, value in {"package": "__name__", "run": "RUN", field: code}.items()
    )
    package = tmp_path / "site" / key
    (package / "templates").mkdir(parents=True)
    text = PAPER.format(key=key, more=more).replace("PAPER = ", f"{QUICK}PAPER = ")
    (package / "__init__.py").write_text(text)
    # A template that fails only if nothing before it does.
    template = '{% extends "report.html.j2" %}\n{% block body %}{{ nobody.name }}{% endblock %}'
    (package / "templates" / "paper.html.j2").write_text(template)
    out = tmp_path / "out"
    done = run_cli("reproduce", key, "--out", out)
    assert_bad_input(done, key, *names)
    assert not out.exists()
    monkeypatch.setattr(installed, "all_keys", lambda: [key])
    if "paper.toml" not in names[0]:
        front = reproduce_all(out)
        assert front.broken[key].startswith(f"{key} of fails 2.5 fails in ")


@pytest.mark.usefixtures("stranger")
def test_two_papers_of_one_key(install: Install) -> None:
    install("rival", {KEY: "rival:PAPER"}, {"rival": ""})
    assert installed.all_keys().count(KEY) == 1
    with pytest.raises(BrokenPaperError, match=r"mathis1997 2.5 and by rival 2.5: uninstall one"):
        installed.paper(KEY)
    usable, broken = installed.every()
    assert list(broken) == [KEY]
    assert "nor2011" in [paper.key for paper in usable]


@pytest.mark.usefixtures("stranger")
def test_papers_are_listed() -> None:
    done = run_cli("papers")
    assert done.returncode == 0, done.stderr
    for part in ("nor2011", "H. Chen, O. W. W. Yang, Y. Hong", "2008", KEY, f"{KEY} 2.5"):
        assert part in done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["reproduce", "--help"],
        ["run", ROOT / "examples" / "dccp.toml"],
        ["reproduce", "nobody1999"],
    ],
    ids=lambda arguments: arguments[-1] if isinstance(arguments, list) else "",
)
def test_no_paper_is_imported_where_none_is_asked_for(arguments: list[str | Path]) -> None:
    """Nor what draws their figures and writes their pages."""
    code = (
        "import sys\n"
        "from skywave import cli\n"
        f"sys.argv = ['skywave', *{[str(argument) for argument in arguments]}]\n"
        "try:\n"
        "    cli.main()\n"
        "except SystemExit:\n"
        "    print('MODULES', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split("MODULES")[1].split())
    ours = [f"skywave_papers.{key}" for key in installed.all_keys()]
    assert modules.isdisjoint({*ours, "matplotlib", "jinja2", "skywave.matrix"})


@pytest.mark.usefixtures("stranger")
def test_one_paper_imports_no_other() -> None:
    code = (
        "import sys\n"
        "from skywave.papers import installed\n"
        "installed.paper('nor2011')\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    papers = {f"skywave_papers.{key}" for key in installed.all_keys()}
    assert papers & set(done.stdout.split()) == {"skywave_papers.nor2011"}


def own_keys() -> list[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return list(project["entry-points"][installed.GROUP])


def test_our_papers_are_those_of_the_project() -> None:
    for key in own_keys():
        assert installed.distribution(key).startswith("skywave ")
        paper = installed.paper(key)
        assert paper.package == f"skywave_papers.{key}"
        assert paper.protocol == PROTOCOL


# The schema names the core's rules by whose they are.
NAMED = {"scenario/parts.py"}


def test_the_library_names_no_paper() -> None:
    python = ROOT / "python" / "skywave"
    files = [
        path
        for suffix in ("py", "pyi", "j2", "csv")
        for path in python.rglob(f"*.{suffix}")
        if not any(path.is_relative_to(python / named) for named in NAMED)
    ]
    assert len(files) > 50
    name = re.compile("|".join(["skywave_papers", *own_keys()]))
    texts = {path.relative_to(python).as_posix(): path.read_text() for path in files}
    assert [path for path, text in texts.items() if name.search(text)] == []
    assert name.search("from skywave_papers.nor2011 import setting")
    assert not any(key in (ROOT / "Makefile").read_text() for key in own_keys())


DOCUMENT = (ROOT / "docs" / "papers.md").read_text()


def test_the_document_links_what_the_tests_run() -> None:
    linked = {(ROOT / "docs" / link).resolve() for link in re.findall(r"\]\(([^)#]+)\)", DOCUMENT)}
    files = {path for path in STRANGER.rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert files <= linked


def test_the_document_has_every_field() -> None:
    contract = DOCUMENT.partition("## A complete example")[0]
    named = set(re.findall(r"`(\w+)(?:\(\w*\))?`", contract))
    assert {field.name for field in fields(Paper)} <= named


STORES = {
    "golden": "lambda: (Path(__file__).parent / 'golden.txt').write_text('asked') and None",
    "stored": "(Table(Path(__file__).with_name('halves.csv'), Half, [1, 2], Half),)",
}
ROWS = """
from dataclasses import dataclass
from pathlib import Path
from skywave.report.tables import Table

@dataclass(frozen=True)
class Half:
    number: int
"""


@pytest.fixture
def stores(stranger: None, install: Install, tmp_path: Path) -> Path:
    """Install a paper that stores a table and asks a program outside; return where."""
    del stranger
    (module,) = another("stores2024", **STORES).values()
    install("stores", {"stores2024": "stores2024:PAPER"}, {"stores2024": ROWS + module})
    return tmp_path / "site"


def test_stored_tables_and_golden_answers_are_made_anew(
    stores: Path,
    install: Install,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As ``make searches`` and ``make golden`` do, of all papers: here of these two and a wreck."""
    assert storing.main(["stored", "stores2024/halves"]) == 0
    assert (stores / "halves.csv").read_text() == "number\n1\n2\n"
    (stores / "halves.csv").unlink()
    install("wreck", {"wreck2024": "wreck2024:PAPER"}, {})
    monkeypatch.setattr(installed, "all_keys", lambda: [KEY, "stores2024", "wreck2024"])
    assert storing.main(["stored"]) == 2, "of the wreck"
    assert (stores / "halves.csv").read_text() == "number\n1\n2\n"
    assert not (stores / "golden.txt").exists()
    assert storing.main(["golden", "stores2024"]) == 0
    assert (stores / "golden.txt").read_text() == "asked"
    printed = capsys.readouterr().err
    assert "stores2024/halves: regenerating" in printed
    assert "stores2024: regenerating" in printed
    assert "error: wreck2024 of wreck 2.5" in printed


@pytest.mark.parametrize(
    ("only", "why"),
    [
        ("nobody1999", "is not a known paper"),
        (KEY, "has no stored results; known: none"),
        ("stores2024/thirds", "has no stored results; known: stores2024/halves"),
    ],
)
@pytest.mark.usefixtures("stores")
def test_what_nobody_stores(only: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert storing.main(["stored", only]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {only}")
    assert why in printed


@pytest.mark.usefixtures("stranger")
def test_what_a_paper_has_timed_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row whose ns-2 is not installed, and one beside a program that stands for it."""
    scenario = importlib.import_module(KEY).scenario(0.03)
    monkeypatch.setattr(speed, "ROUNDS", 1)

    def missing(_: Path) -> list[str]:
        raise Ns2Error("it is not installed")

    runs = [
        TimedRun("alone", scenario, missing),
        TimedRun("beside", scenario, lambda out: [sys.executable, "-c", f"open({str(out)!r})"]),
    ]
    told: list[Progress] = []
    with pytest.raises(BenchError, match="No such file"):
        speed.measure(runs, told.append)
    assert told == [Progress("runs", done, 2) for done in (0, 1)]
    runs[1] = replace(runs[1], ns2=lambda _: [sys.executable, "-c", ""])
    alone, beside = speed.measure(runs, lambda *_: None)
    assert (alone["scheme"], alone["ns2_process_cpu_s"]) == ("alone", None)
    assert 0 < alone["cpu_s"] <= alone["process_cpu_s"]
    assert beside["cpu_ns2_over_skywave"] is not None
    assert beside["cpu_ns2_over_skywave"] > 0
    for taken in (beside["stolen"], beside["used_by_others"]):
        assert taken is None or 0 <= taken <= 1


LENDS: dict[str, Any] = {
    "network": "lent.Network(dumbbell=scenario(0.01).dumbbell, label='Mathis 1997', "
    "conditions='a link with losses', packet_b=1040, flows=2, hosts=1, duration_s=60)",
    "controls": "(lent.Control('ccid2-wide', 'CCID 2, wide', "
    "Dccp(ccid=2, ecn=False, initial_ssthresh=500), 'ours'),)",
}
HEAD = (
    "from mathis1997 import scenario\nfrom skywave import Dccp\nfrom skywave.papers import lent\n"
)
TAKEN = {"controls": "(lent.Control('ccid2', 'Mine', Dccp(ccid=2), 'ours'),)"}


@pytest.mark.usefixtures("stranger")
def test_the_matrix_has_what_papers_lend(install: Install, tmp_path: Path) -> None:
    """In a process of its own, which finds what this one does."""
    for key, more in (("lends2024", LENDS), ("taken2024", TAKEN)):
        (module,) = another(key, **more).values()
        install(key, {key: f"{key}:PAPER"}, {key: HEAD + module})
    chosen = ["--network", "lends2024", "--control", "ccid2-wide", "--control", "ccid2"]
    code = f"import sys; sys.path = {sys.path}; from skywave import cli; cli.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "matrix", *chosen, "--seeds", "1", "--json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["networks"] == {"lends2024": "a link with losses"}
    assert list(document["controls"].items()) == [
        ("ccid2", "CCID 2"),
        ("ccid2-wide", "CCID 2, wide"),
    ]
    assert done.stderr.startswith("warning: taken2024 of taken2024 2.5 defines controls")
    assert done.stderr.count("\n") == 1


def test_the_key_that_is_meant_is_suggested() -> None:
    assert_bad_input(run_cli("reproduce", "chn2010"), '; did you mean "chen2010"?')
