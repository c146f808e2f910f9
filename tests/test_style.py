"""Pages, docstrings, help texts and messages avoid the phrases that docs/style.md bans."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

STYLE = ROOT / "docs" / "style.md"
PAGES = [
    *sorted(page for page in ROOT.glob("docs/**/*.md") if page != STYLE),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md")),
]
MODULES = sorted((ROOT / "python").rglob("*.py"))
CODE = re.compile(r"```.*?^```|``?[^`]+``?|\]\([^)]*\)", re.MULTILINE | re.DOTALL)


def banned() -> list[str]:
    """Return the phrases of the list in docs/style.md."""
    section = STYLE.read_text().partition("\n## Words never used\n")[2].partition("\n## ")[0]
    return re.findall(r"^- (.+)$", section, re.MULTILINE)


def pattern(phrases: list[str]) -> re.Pattern[str]:
    """Return a pattern of the phrases, as whole words, over line ends."""
    either = "|".join(r"\s+".join(map(re.escape, phrase.split())) for phrase in phrases)
    return re.compile(rf"(?<![\w-])(?:{either})(?![\w-])", re.IGNORECASE)


NEVER = pattern(banned())


def found(prose: str) -> list[str]:
    """Return the banned phrases in a text, outside of its code."""
    return [" ".join(match.split()) for match in NEVER.findall(CODE.sub(" ", prose))]


def prose_of(module: str) -> Iterator[str]:
    """Yield the strings of a module in Python that have several words."""
    for node in ast.walk(ast.parse(module)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.value


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def test_the_list_is_read() -> None:
    assert len(banned()) > 20
    assert "mended" in banned()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_have_no_banned_phrase(page: Path) -> None:
    assert found(page.read_text()) == []


def test_python_has_no_banned_phrase() -> None:
    assert len(MODULES) > 100
    texts = {name(path): "\n\n".join(prose_of(path.read_text())) for path in MODULES}
    assert {path: phrases for path, text in texts.items() if (phrases := found(text))} == {}


def test_banned_phrases_are_found() -> None:
    assert found("All are mended, and a\nlived run cannot  be believed.") == [
        "mended",
        "a lived",
        "cannot be believed",
    ]
    assert found("Recommended: `lived run`, [a page](a-lived.md), long-lived runs.") == []
    module = '''
def run():
    """Mended."""
    print(f"{1} is mended" "!", "mended")
    raise ValueError("This is mended.")
'''
    assert [phrase for text in prose_of(module) for phrase in found(text)] == ["mended"] * 2
