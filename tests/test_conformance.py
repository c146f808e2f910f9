"""The conformance table: which ids count, and what is an error."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[1] / "validation" / "conformance" / "table.py"

RUST = """
//! L-9: not a test.

/// D5.1-2, D5.1-3: two of them.
#[test]
fn bounds() {
    // T-6
    let text = "U-1 {}";
}

/// S-1: a helper, not a test.
fn helper() {}

proptest! {
    // C2-5
    #[test]
    fn d7_6_1_short(x in 0..1) {
        nothing();
    }

    #[tokio::test]
    async fn names_nothing() {
    }
}
"""

PYTHON = '''
# C3-4
@decorated
def test_feedback() -> None:
    """E-1: sizes."""


def helper() -> None:
    """E-2."""
'''


@pytest.fixture(name="table")
def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("conformance_table", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def lay_out(table: ModuleType, root: Path, tests: str, reasons: str) -> list[str]:
    """Builds a project of one Rust file and two requirements; what is wrong with it."""
    (root / "crates").mkdir()
    (root / "crates" / "lib.rs").write_text(tests)
    rows = 'rows = [{ id = "D1-1", section = "1", level = "M", shown = "U", text = "one" },'
    rows += '{ id = "D1-2", section = "1", level = "S", shown = "U", text = "two" }]'
    (root / "requirements.toml").write_text(f'[[group]]\ntitle = "RFC 1"\n{rows}\n')
    (root / "reasons.toml").write_text(reasons)
    return list(table.fill(table.requirements(root), root, root))


def test_finds_ids_in_comments_bodies_and_names(table: ModuleType, tmp_path: Path) -> None:
    rust, python = tmp_path / "lib.rs", tmp_path / "test_it.py"
    rust.write_text(RUST)
    python.write_text(PYTHON)
    assert list(table.rust_tests(rust)) == [
        ("bounds", {"D5.1-2", "D5.1-3", "T-6", "U-1"}),
        ("d7_6_1_short", {"C2-5", "D7.6-1"}),
        ("names_nothing", set()),
    ]
    assert list(table.python_tests(python)) == [("test_feedback", {"C3-4", "E-1"})]


def test_a_required_row_needs_a_test_or_a_reason(table: ModuleType, tmp_path: Path) -> None:
    (wrong,) = lay_out(table, tmp_path, "", "")
    assert wrong.startswith("D1-1 (one)")


@pytest.mark.parametrize(
    ("tests", "reasons"),
    [("// D1-1\n#[test]\nfn one() {\n}\n", ""), ("", '[not_met]\n"D1-1" = "because"\n')],
)
def test_either_will_do(table: ModuleType, tmp_path: Path, tests: str, reasons: str) -> None:
    assert lay_out(table, tmp_path, tests, reasons) == []


def test_ids_must_exist(table: ModuleType, tmp_path: Path) -> None:
    tests = "// D1-1, D1-3\n#[test]\nfn one() {\n}\n"
    wrong = lay_out(table, tmp_path, tests, '[argued]\n"D1-4" = "because"\n')
    assert wrong == [
        "crates/lib.rs: one names D1-3, which is no requirement",
        "reasons.toml: D1-4 is no requirement",
    ]
