"""What the book shows works as it stands there, its links lead somewhere, and it loads nothing."""

from __future__ import annotations

import dataclasses
import inspect
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

from book import FIGURES, Reader, assert_drawn, assert_shown, blocks
from conftest import ROOT
from skywave import _core, control, net
from skywave.realtime.virtual import kernel
from test_emulate import REFUSAL

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DOCS = ROOT / "docs"
TESTED = [
    "control",
    "controls",
    "dccp",
    "how-to",
    "index",
    "lab",
    "papers",
    "real-time",
    "start",
    "topologies",
    "vcp",
    "virtual-time",
]
PAGES = sorted(
    page.relative_to(DOCS).as_posix()
    for page in (
        *DOCS.glob("tutorials/*.md"),
        *DOCS.glob("reference/*.md"),
        *(DOCS / f"{name}.md" for name in TESTED),
    )
)
BUILT_BESIDE = {f"tutorials/{name}-rust.md" for name in ("own-control", "own-queue", "sockets")}
"""Pages whose crates compile Skywave again, for minutes: `make test-deep` runs their commands and
compares what these print. Their code is in examples too, which cargo compiles."""
MISSING = {"namespaces": REFUSAL, "virtual-kernel": kernel.missing() or ""}
"""Why a privilege is missing, by its name; nothing where it is there."""


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.deep] * (page in BUILT_BESIDE)) for page in PAGES],
)
def test_a_page_works(page: str, tmp_path: Path) -> None:
    reader = Reader(tmp_path, missing=MISSING)
    reader.read((DOCS / page).read_text())
    if reader.left_out:
        pytest.skip("; ".join(reader.left_out))


def test_pages_that_are_built_beside_the_tree_are_there() -> None:
    assert set(PAGES) >= BUILT_BESIDE


@pytest.mark.parametrize("page", PAGES)
def test_only_named_privileges_are_needed(page: str) -> None:
    for block in blocks((DOCS / page).read_text()):
        assert block.argument("needs") in {None, *MISSING}


def test_other_output_is_found() -> None:
    printed = "┃ flow  ┃ goodput ┃\n│ video │   1.894 │\nand the rest\n"
    assert_shown("│ video │ 1.894 │\n...\nand the ...\n", printed, varies=False)
    for wrong in ("│ video │ 1.895 │", "and the rest\nvideo 1.894"):
        with pytest.raises(AssertionError):
            assert_shown(wrong, printed, varies=False)
    assert_shown("video 7.5", printed, varies=True)
    real_time = "kernel: 2 s in real time, seed 0"
    assert_shown("kernel: 2 s in real time, seed 7", real_time, varies=True)
    with pytest.raises(AssertionError):
        assert_shown("kernel: 4 s in real time, seed 0", real_time, varies=True)


def test_a_broken_block_fails(tmp_path: Path) -> None:
    for index, page in enumerate(
        (
            "```sh\nskywave run missing.toml\n```\n",
            "```python\nraise ValueError\n```\n",
            "```rust\nfn main() {}\n```\n",
            "<!-- from: examples/own_control.rs -->\n```rust\nfn other() {}\n```\n",
            "<!-- set up -->\n```sh\nmake coffee\n```\n",
            "```toml\nname = 'nobody reads it'\n```\n",
            "<!-- crate: own -->\n```sh\ncargo run\n```\n",
            "<!-- elsewhere: start.md -->\n```sh\nskywave nothing\n```\n",
            "<!-- figure: controls.png -->\n![nobody drew it](figures/controls.png)\n",
        )
    ):
        directory = tmp_path / str(index)
        directory.mkdir()
        with pytest.raises((AssertionError, ValueError, FileNotFoundError)):
            Reader(directory, missing={}).read(page)


def test_another_figure_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UPDATE_FIGURES", raising=False)
    drawn = tmp_path / "controls.png"
    with Image.open(FIGURES / "controls.png") as stored:
        stored.convert("RGB").transpose(Image.Transpose.FLIP_TOP_BOTTOM).save(drawn)
    with pytest.raises(AssertionError):
        assert_drawn(drawn, FIGURES / "controls.png")


@pytest.mark.parametrize("what", ["control", "queue"])
def test_what_is_ones_own_in_rust_is_printed_whole(what: str) -> None:
    page = (DOCS / "tutorials" / f"own-{what}-rust.md").read_text()
    printed = "\n".join(block.text for block in blocks(page) if block.language == "rust")
    source = (ROOT / "examples" / f"own_{what}.rs").read_text()
    assert printed == re.sub(r"\A(//!.*\n)+\n", "", source)


def test_the_sockets_in_rust_are_printed_whole() -> None:
    page = (DOCS / "tutorials" / "sockets-rust.md").read_text()
    printed = "\n".join(block.text for block in blocks(page) if block.language == "rust")
    source = (ROOT / "crates" / "skywave" / "examples" / "sockets.rs").read_text()
    assert printed == re.sub(r"\A(//!.*\n)+\n", "", source)


class Controls:
    """The page of the controls: the rows of its tables, by section."""

    def __init__(self) -> None:
        page = (DOCS / "controls.md").read_text()
        self.sections = {
            section.partition("\n")[0]: section
            for section in re.split(r"^## ", page, flags=re.MULTILINE)
        }

    def rows(self, section: str) -> dict[str, list[str]]:
        """Return the cells of a section's table, by the name in the first."""
        lines = re.findall(r"^\| (`.*) \|$", self.sections[section], re.MULTILINE)
        return {line.split(" | ")[0].strip("`"): line.split(" | ")[1:] for line in lines}


def properties(definition: str) -> dict[str, dict[str, Any]]:
    """Return the fields of a part of scenarios, as its schema has them."""
    found: dict[str, dict[str, Any]] = json.loads(_core.scenario_schema())["$defs"][definition][
        "properties"
    ]
    return found


def test_every_control_is_listed() -> None:
    page = Controls()
    tcp, dccp = properties("Tcp"), properties("Dccp")
    controls = tcp["control"]["anyOf"][0]["enum"]
    listed = page.rows("Over TCP")
    assert sorted(listed) == sorted(controls)
    assert sorted(page.rows("Over DCCP"), key=int) == [str(ccid) for ccid in dccp["ccid"]["enum"]]
    over_dccp = {name for name, cells in listed.items() if "251" in cells[-1]}
    assert over_dccp == set(dccp["control"]["anyOf"][0]["enum"])
    absent = re.findall(r"`([a-z0-9]+)`", page.sections["What is absent"].split("\n\n")[2])
    assert "yeah" in absent
    assert not set(absent) & set(controls)


@pytest.mark.parametrize("section", ["Over TCP", "Over DCCP"])
def test_parameters_of_controls_are_listed(section: str) -> None:
    """Each that a cell names is a field of the transport, or of the table that it links."""
    page = Controls()
    for name, cells in page.rows(section).items():
        fields = set(properties("Tcp" if section == "Over TCP" else "Dccp"))
        tables = re.findall(r"scenario\.md#(\w+)", cells[-2])
        own = {field for table in tables for field in properties(table.capitalize())}
        named = set(re.findall(r"`(\w+)`", cells[-2]))
        assert named <= fields | own, name
        if section == "Over TCP":
            assert own <= named, name


def test_headers_and_datagram_make_up_the_path() -> None:
    page = (DOCS / "path.md").read_text()
    path = re.findall(r"on a path of (\d+):", page)
    rows = re.findall(r"^\| (?:over UDP|raw), IPv[46] \|((?: \d+ \|)+)$", page, re.MULTILINE)
    assert len(rows) == 4
    for row in rows:
        assert [str(sum(map(int, re.findall(r"\d+", row))))] == path


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built book: every warning, as of a link that leads nowhere, is an error."""
    out = tmp_path_factory.mktemp("book")
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", DOCS, out],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert done.returncode == 0, done.stderr
    return out


ATTRIBUTES = {"src", "srcset", "poster", "data"}
LOADED = {"stylesheet", "icon", "preload", "modulepreload", "prefetch", "preconnect", "manifest"}
ELSEWHERE = re.compile(r"^(?:[a-z]+:)?//", re.IGNORECASE)


class Assets(HTMLParser):
    """What a page loads by itself, and the ids and links that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.assets: list[str] = []
        self.ids: set[str] = set()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.assets += [values[name] for name in ATTRIBUTES & set(values)]
        if tag == "link" and LOADED & set(values.get("rel", "").split()):
            self.assets.append(values["href"])
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if "id" in values:
            self.ids.add(values["id"])


def parsed(page: Path) -> Assets:
    assets = Assets()
    assets.feed(page.read_text())
    return assets


def from_elsewhere(directory: Path) -> Iterator[str]:
    """What pages, style sheets and scripts would load from another host."""
    for page in directory.rglob("*.html"):
        yield from (asset for asset in parsed(page).assets if ELSEWHERE.match(asset))
    for sheet in directory.rglob("*.css"):
        loaded = re.findall(r"(?:url\(|@import\s+)\s*['\"]?([^'\")\s;]+)", sheet.read_text())
        yield from (asset for asset in loaded if ELSEWHERE.match(asset))
    for script in directory.rglob("*.js"):
        yield from re.findall(
            r"(?:import|fetch|importScripts|src\s*=)\s*\(?\s*['\"`](https?://[^'\"`]+)",
            script.read_text(),
        )


def test_nothing_comes_from_elsewhere(book: Path) -> None:
    assert len(list(book.rglob("*.html"))) > 30
    assert list(from_elsewhere(book)) == []


def test_an_asset_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<script src="//host/a.js"></script><a href="//host/">b</a>')
    (tmp_path / "a.css").write_text("@import 'https://host/b.css'; p { background: url(c.png) }")
    (tmp_path / "a.js").write_text("import('https://host/c.js'); const see = 'https://host'")
    assert sorted(from_elsewhere(tmp_path)) == [
        "//host/a.js",
        "https://host/b.css",
        "https://host/c.js",
    ]


def test_links_lead_somewhere(book: Path) -> None:
    pages = {page.resolve(): parsed(page) for page in book.rglob("*.html")}
    for page, found in pages.items():
        for link in found.links:
            if re.match(r"[a-z]+:", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.is_file(), f"{page.relative_to(book)}: {link}"
            if anchor and target in pages:
                assert anchor in pages[target].ids, f"{page.relative_to(book)}: {link}"


def test_every_page_is_in_the_contents(book: Path) -> None:
    linked = {link.partition("#")[0] for link in parsed(book / "index.html").links}
    for page in DOCS.rglob("*.md"):
        assert page.relative_to(DOCS).with_suffix(".html").as_posix() in linked | {"index.html"}


def test_the_reference_is_whole(book: Path) -> None:
    """Each name that a package exports or a paper is made of is there, and each command."""
    import skywave  # noqa: PLC0415
    from skywave import cli, realtime, results, stats  # noqa: PLC0415
    from skywave.papers.protocol import Paper  # noqa: PLC0415

    ids = parsed(book / "reference" / "python.html").ids
    names = {
        name
        for module in (skywave, net, realtime, results, stats)
        for name in module.__all__
        if callable(getattr(module, name))
    }
    annotations = " ".join(str(field.type) for field in dataclasses.fields(Paper))
    names |= set(re.findall(r"\b[A-Z]\w+", annotations)) - {"Any", "Callable", "Mapping", "None"}
    documented = {found.rpartition(".")[2] for found in ids}
    assert names - {"Measured", "Sequence"} <= documented
    commands = parsed(book / "reference" / "commands.html").ids
    assert {f"skywave-{name}" for name in cli.COMMANDS} <= commands


def test_events_of_controls_are_described() -> None:
    events = [kind for name in control.__all__ if inspect.isclass(kind := getattr(control, name))]
    fields = {
        f"{kind.__name__}.{name}": field.__doc__
        for kind in events
        for name, field in vars(kind).items()
        if inspect.isgetsetdescriptor(field) and not name.startswith("__")
    }
    assert "Ack.delivery_limited" in fields
    assert [name for name, text in fields.items() if not text] == []
