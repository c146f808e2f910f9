"""How Sphinx builds the book: `make docs`."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

DOCS = Path(__file__).parent
ROOT = DOCS.parent

project = "Skywave"
project_copyright = "The Skywave authors"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Pages are Markdown as GitHub shows it, so anchors are GitHub's.
myst_heading_anchors = 4
myst_links_external_new_tab = False
suppress_warnings = [
    "myst.header",  # some pages have headings that skip a level
    "ref.python",  # a name in a type may be that of several classes; then it is no link
]

# Docstrings mark code with single backticks, too.
default_role = "code"
autodoc_member_order = "bysource"
toc_object_entries = False  # half of the time that a build takes
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = "Skywave"
html_copy_source = False
html_show_sphinx = False
html_theme_options: dict[str, object] = {"top_of_page_buttons": []}

INCLUDED = {
    "ARCHITECTURE.md": "project/architecture",
    "CHANGELOG.md": "project/changelog",
    "CONTRIBUTING.md": "project/contributing",
}
"""Pages beside `docs/` that the book has too, and where."""

LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]+)\]\((?P<target>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")


def book_link(link: re.Match[str], directory: Path) -> str:
    """Return a link of a page in this directory as the book needs it.

    A file that is no page is copied into the book by MyST. Directories, and pages that are not in
    the book, are named instead.
    """
    text, target = link["text"], (directory / link["target"]).resolve()
    if not target.exists():
        return link[0]  # MyST warns
    path = target.relative_to(ROOT).as_posix()
    anchor = link["anchor"] or ""
    if path in INCLUDED:
        return f"[{text}](/{INCLUDED[path]}.md{anchor})"
    if target.is_relative_to(DOCS):
        return f"[{text}](/{target.relative_to(DOCS).as_posix()}{anchor})"
    if target.is_file() and target.suffix != ".md":
        return f"[{text}](/../{path})"
    return text if f"`{path}`" in text or text == path else f"{text} (`{path}`)"


def with_book_links(page: str, directory: Path) -> str:
    """Return a page whose links lead to the same things from within the book."""
    parts = re.split(r"(^```.*?^```\n)", page, flags=re.MULTILINE | re.DOTALL)
    return "".join(
        part if part.startswith("```") else LINK.sub(lambda link: book_link(link, directory), part)
        for part in parts
    )


@cache
def commands() -> str:
    """Return the reference of the command line, as Typer writes it."""
    asked = [
        sys.executable,
        "-m",
        "typer",
        "--app",
        "app",
        "skywave.cli",
        "utils",
        "docs",
        "--name",
        "skywave",
    ]
    return subprocess.run(asked, capture_output=True, text=True, check=True).stdout


def read_source(_app: Sphinx, name: str, source: list[str]) -> None:
    """Make a page of the book from a file."""
    if name == "reference/commands":
        source[0] += commands()
        return
    for path, page in INCLUDED.items():
        if name == page:
            source[0] = with_book_links((ROOT / path).read_text(), ROOT)
            return
    source[0] = with_book_links(source[0], (DOCS / name).parent)


def cut_fields(
    _app: Sphinx, _what: str, name: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Leave out the fields of a scenario's parts, which scenario.md describes."""
    if name.startswith("skywave.scenario.parts.") and "Attributes:" in lines:
        del lines[lines.index("Attributes:") :]


def skip_member(
    _app: Sphinx, _what: str, _name: str, member: object, _skip: bool, _options: object
) -> bool | None:
    """Leave out the same fields, as members."""
    of = getattr(member, "__objclass__", None)
    return True if of and of.__module__ == "skywave.scenario.parts" else None


def setup(app: Sphinx) -> None:
    """Connect what pages need."""
    app.connect("source-read", read_source)
    app.connect("autodoc-skip-member", skip_member)
    app.connect("autodoc-process-docstring", cut_fields, priority=400)  # before napoleon, at 500
