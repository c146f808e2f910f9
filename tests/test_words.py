"""VCP and MPCP are plugged in as a stranger's would be: no crate but their own knows of them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CRATES = ROOT / "crates"
# The protocols, and their router in the kernel.
HOMES = [CRATES / "mpcp", CRATES / "kernel-router"]

# The protocols, in whatever name they are part of, and MPCP's chain of codes. `.chain(` joins
# iterators.
WORDS = re.compile(r"vcp|mpcp|dpcp|tpcp|(?<!\.)\bchain(?:s|ed)?\b", re.IGNORECASE)

# The lines that plug them in, by file: a dependency and one call; and the lines with which the
# crate that re-exports all others re-exports them.
REGISTRATION = {
    "scenario/Cargo.toml": ["skywave-mpcp.workspace = true"],
    "scenario/src/registry.rs": ["skywave_mpcp::register("],
    "skywave/Cargo.toml": [
        'mpcp = ["dep:skywave-mpcp"]',
        "skywave-mpcp = { workspace = true, optional = true }",
    ],
    "skywave/src/lib.rs": [
        "//! | `mpcp` | `mpcp`: MPCP and VCP, their controls and their router |",
        '#[cfg(feature = "mpcp")]',
        "pub use skywave_mpcp as mpcp;",
    ],
}


def found(path: str, text: str) -> list[str]:
    """The lines that name what they should not."""
    allowed = REGISTRATION.get(path, [])
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if WORDS.search(line) and line not in allowed]


def files() -> list[Path]:
    suffixes = {".rs", ".toml", ".md", ".pyi"}
    paths = (path for path in CRATES.rglob("*") if path.suffix in suffixes)
    return sorted(path for path in paths if not any(map(path.is_relative_to, HOMES)))


def test_no_other_crate_names_them() -> None:
    texts = {path.relative_to(CRATES).as_posix(): path.read_text() for path in files()}
    assert len(texts) > 100
    assert {path: lines for path, text in texts.items() if (lines := found(path, text))} == {}


def test_what_plugs_them_in_is_there() -> None:
    for path, lines in REGISTRATION.items():
        text = (CRATES / path).read_text()
        assert all(line in text for line in lines), path


@pytest.mark.parametrize(
    "line",
    [
        "enum Kind { Aimd, Vcp }",
        "let tpcp_levels = 16;",
        "use skywave_mpcp::Router;",
        "/// The chain of codes.",
        "skywave_mpcp::register(",
    ],
)
def test_a_name_is_found(line: str) -> None:
    assert found("wire/src/lib.rs", f"struct Ok;\n    {line}") == [line]


def test_iterators_may_be_joined() -> None:
    assert found("wire/src/lib.rs", "let all = links.chain(flows);") == []
