"""The crates are layers, and no modules of a crate use each other in a circle.

The layers of the Python package are checked by import-linter (`make lint`).
"""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).parent.parent
CRATES = ROOT / "crates"

# From the lowest layer up. A crate depends on crates of lower layers only; those of one layer do
# not know each other.
LAYERS = [
    {"units", "registry", "netlink"},
    {"wire"},
    {"congestion"},
    {"transport", "path"},
    {"mpcp", "traffic", "qlog"},
    {"scenario"},
    {"sim", "net", "emulate", "kernel-router"},
    {"perf", "live"},
    {"skywave"},
    {"python", "fuzz"},
]

# Known cycles: the root file of the program, the modules, and why they have not been broken up.
KNOWN: dict[tuple[str, frozenset[str]], str] = {}

Module = tuple[str, ...]  # the path of a module inside its crate; () is the crate's root


def folders() -> dict[str, Path]:
    """The folder of each crate; that of the fuzz targets is a workspace of its own."""
    found = [*CRATES.glob("*/Cargo.toml"), ROOT / "fuzz" / "Cargo.toml"]
    return {manifest.parent.name: manifest.parent for manifest in sorted(found)}


FOLDERS = folders()


def programs() -> list[str]:
    """The root file of each library, program, test, example and benchmark."""
    roots = ["src/lib.rs", "src/main.rs", "fuzz_targets/*.rs"]
    for kind in ("tests", "examples", "benches"):
        roots += [f"{kind}/*.rs", f"{kind}/*/main.rs"]
    return [
        str(file.relative_to(ROOT))
        for folder in FOLDERS.values()
        for pattern in roots
        for file in sorted(folder.glob(pattern))
    ]


def layer(crate: str) -> int:
    for index, names in enumerate(LAYERS):
        if crate in names:
            return index
    raise AssertionError(
        f"crates/{crate} is in no layer: give it one in LAYERS of {Path(__file__).name}"
    )


def dependencies(manifest: Mapping[str, object]) -> Iterator[str]:
    """The crates of this repository that a manifest names, other than for tests."""
    for key, value in manifest.items():
        if not isinstance(value, dict):
            continue
        if key in {"dependencies", "build-dependencies"}:
            for name, source in value.items():
                renamed = isinstance(source, dict) and "package" in source
                package = str(source["package"] if renamed else name)
                if package == "skywave" or package.startswith("skywave-"):
                    yield package.removeprefix("skywave-")
        elif key == "target":
            for target in value.values():
                yield from dependencies(target)


def upward(crate: str, manifest: str) -> list[str]:
    """What is wrong with the dependencies of a crate."""
    return [
        f"crates/{crate} may not depend on crates/{other}: it is not in a lower layer"
        for other in dependencies(tomllib.loads(manifest))
        if layer(other) >= layer(crate)
    ]


@pytest.mark.parametrize("crate", FOLDERS)
def test_a_crate_depends_on_lower_layers_only(crate: str) -> None:
    assert upward(crate, (FOLDERS[crate] / "Cargo.toml").read_text()) == []


def test_a_crate_that_depends_on_its_own_layer_or_a_higher_one_is_found() -> None:
    manifest = """
        [dependencies]
        skywave-units.workspace = true
        skywave-net = { workspace = true, features = [] }
        renamed = { package = "skywave-perf", path = "../perf" }
        [target.'cfg(unix)'.build-dependencies]
        skywave-sim.workspace = true
        [dev-dependencies]
        skywave-python.workspace = true
    """
    found = [problem.split()[5].rstrip(":") for problem in upward("sim", manifest)]
    assert found == ["crates/net", "crates/perf", "crates/sim"]


def test_a_crate_without_a_layer_is_named() -> None:
    with pytest.raises(AssertionError, match="crates/new is in no layer"):
        upward("new", "[dependencies]\nskywave-units.workspace = true")


def test_examples_in_rust_depend_on_one_crate_of_ours() -> None:
    manifest = tomllib.loads((CRATES / "skywave" / "Cargo.toml").read_text())
    ours = [name for name in manifest["dev-dependencies"] if name.startswith("skywave")]
    assert ours == ["skywave"]
    examples = sorted((CRATES.parent / "examples").glob("*.rs"))
    assert [example.stem for example in examples] == ["own_control", "own_queue"]
    for example in examples:
        assert re.findall(r"\bskywave_\w+|\buse rand", example.read_text()) == []


NOT_CODE = re.compile(
    r"""//[^\n]*
    |/\*.*?\*/
    |r(?P<hashes>\#*)".*?"(?P=hashes)
    |"(?:\\.|[^"\\])*"
    |'(?:\\[^']+|[^'\\])'""",
    re.DOTALL | re.VERBOSE,
)
FOR_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*")
AT_PATH = re.compile(r'#\[path\s*=\s*"([^"]+)"\]\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;')
SUBMODULE = re.compile(r"\bmod\s+(\w+)\s*;")
USE = re.compile(r"\buse\s+([^;]+);")
PATH = re.compile(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+")


def code(text: str) -> str:
    """A source file without comments, strings, and what is compiled for tests only."""
    text = NOT_CODE.sub('""', text)
    while test := FOR_TESTS.search(text):
        text = text[: test.start()] + text[item_end(text, test.end()) :]
    return text


def item_end(text: str, start: int) -> int:
    """Where the item or the field ends that begins at `start`."""
    depth = 0
    for index in range(start, len(text)):
        character = text[index]
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
            if depth < 0:
                return index
            if depth == 0 and character == "}":
                return index + 1
        elif character in ";," and depth == 0:
            return index + 1
    return len(text)


def read_modules(root: Path) -> dict[Module, str]:
    """The code of each module of the library or program whose root file is `root`.

    Code that is compiled for tests only is left out.
    """
    modules: dict[Module, str] = {}

    def read(module: Module, file: Path, folder: Path) -> None:
        text = file.read_text()
        modules[module] = code(text)
        elsewhere = {name: file.parent / path for path, name in AT_PATH.findall(text)}
        for name in SUBMODULE.findall(modules[module]):
            flat, nested = folder / f"{name}.rs", folder / name / "mod.rs"
            if name in elsewhere:
                read((*module, name), elsewhere[name], elsewhere[name].parent)
            else:
                read((*module, name), flat if flat.exists() else nested, folder / name)

    read((), root, root.parent)
    return modules


def use_tree(tree: str) -> Iterator[tuple[str, str]]:
    """The name that each leaf of `use tree` binds, and its path."""
    tree = tree.strip()
    head, brace, rest = tree.partition("{")
    if not brace:
        path, _, alias = (part.strip() for part in tree.partition(" as "))
        path = path.removesuffix("::self")
        yield alias or path.rpartition("::")[2], path
        return
    depth, leaf = 0, ""
    for character in rest[: rest.rindex("}")] + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if leaf.strip():
                yield from use_tree(head.strip() + leaf.strip())
            leaf = ""
        else:
            leaf += character


class Imports:
    """Which modules of a crate use which."""

    def __init__(self, modules: Mapping[Module, str]) -> None:
        self.modules = modules
        self.uses = {
            module: [use for tree in USE.findall(text) for use in use_tree(" ".join(tree.split()))]
            for module, text in modules.items()
        }
        self.bound = {module: dict(uses) for module, uses in self.uses.items()}

    def used(self, module: Module) -> set[Module]:
        """The modules that define what `module` names."""
        elsewhere = PATH.findall(USE.sub("", self.modules[module]))
        paths = [path for _, path in self.uses[module]] + ["".join(p.split()) for p in elsewhere]
        return {found for path in paths if (found := self.resolve(module, path)) is not None}

    def resolve(self, module: Module, path: str) -> Module | None:
        """The module that defines what `path` means in `module`; `None`: another crate."""
        first, *rest = segments = path.split("::")
        if first == "crate":
            at: Module = ()
        elif first == "self":
            at = module
        elif first == "super":
            at = module[:-1]
            while rest and rest[0] == "super":
                at, rest = at[:-1], rest[1:]
        elif (*module, first) in self.modules:
            at, rest = module, segments
        else:
            return None
        while rest and (*at, rest[0]) in self.modules:
            at, rest = (*at, rest[0]), rest[1:]
        if at != module and rest and rest[0] in self.bound[at]:
            # Passed on from where it is defined.
            return self.resolve(at, "::".join([self.bound[at][rest[0]], *rest[1:]]))
        return at


def circles(modules: Mapping[Module, str]) -> set[frozenset[str]]:
    """The sets of siblings of which each uses, directly or through others, all others.

    What a module has inside counts as the module. A module and those inside it may use each other.
    """
    imports = Imports(modules)
    siblings: dict[Module, dict[str, set[str]]] = {}
    for module in modules:
        for other in imports.used(module):
            common = 0
            while common < min(len(module), len(other)) and module[common] == other[common]:
                common += 1
            if common < min(len(module), len(other)):
                uses = siblings.setdefault(module[:common], {})
                uses.setdefault(module[common], set()).add(other[common])
    found = set()
    for parent, uses in siblings.items():
        reached = {name: reachable(name, uses) for name in uses}
        for name, names in reached.items():
            if name in names:
                circle = [other for other in names if name in reached.get(other, ())]
                found.add(frozenset("::".join((*parent, other)) for other in circle))
    return found


def reachable(name: str, uses: Mapping[str, set[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = [name]
    while waiting:
        for other in uses.get(waiting.pop(), set()) - reached:
            reached.add(other)
            waiting.append(other)
    return reached


def changes(found: set[frozenset[str]], known: set[frozenset[str]]) -> list[str]:
    """What to do about the circles of a crate."""
    new = (f"new, take it apart: {' <-> '.join(sorted(circle))}" for circle in found - known)
    gone = (f"gone, take it out of KNOWN: {' <-> '.join(sorted(c))}" for c in known - found)
    return sorted([*new, *gone])


@pytest.mark.parametrize("program", programs())
def test_no_modules_use_each_other_in_a_circle(program: str) -> None:
    known = {circle for name, circle in KNOWN if name == program}
    assert changes(circles(read_modules(ROOT / program)), known) == []


def test_known_circles_are_of_programs_that_exist() -> None:
    assert {program for program, _ in KNOWN} <= set(programs())


def test_a_circle_that_is_new_or_gone_is_named() -> None:
    ab, cd = frozenset("ab"), frozenset("cd")
    assert changes({ab}, {ab}) == []
    assert changes({ab}, {cd}) == [
        "gone, take it out of KNOWN: c <-> d",
        "new, take it apart: a <-> b",
    ]


def circle_names(modules: Mapping[str, str]) -> set[frozenset[str]]:
    """The circles of a crate whose modules are given by their paths; "" is the root."""
    return circles(
        {tuple(name.split("::")) if name else (): code(text) for name, text in modules.items()}
    )


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("use crate::b::B;", "use super::a::A;"),
        ("use crate::{c, b::{self, B as Other}};", "fn f() -> crate::a::A {}"),
        ("use super::{\n    b,\n};", "use crate::A;"),
        ("use super::B;", "pub(super) use super::c::C;\nuse crate::a::inner::Inner;"),
    ],
)
def test_a_circle_is_found(a: str, b: str) -> None:
    modules = {
        "": "mod a; mod b; mod c; pub use a::A; use b::B;",
        "a": a + "mod inner;",
        "a::inner": "",
        "b": b,
        "c": "",
    }
    assert circle_names(modules) == {frozenset("ab")}


def test_a_circle_of_three_and_one_of_inner_modules_are_found() -> None:
    modules = {
        "": "",
        "a": "use crate::b::B;",
        "b": "use crate::c::C;",
        "c": "use crate::a::A;",
        "d": "use crate::c::C;",
        "d::x": "use super::y::Y;",
        "d::y": "use crate::d::x::X;",
    }
    assert circle_names(modules) == {frozenset("abc"), frozenset({"d::x", "d::y"})}


@pytest.mark.parametrize(
    "b",
    [
        "use crate::c::C;",
        "// use crate::a::A;",
        '/* crate::a::A */ const TEXT: &str = "crate::a::A";',
        "#[cfg(test)]\nmod tests { fn f() {} use crate::a::A; }",
        "#[cfg(test)]\nuse crate::a::A;",
        "use a::A;",  # another crate's
        "use super::LIMIT;",
    ],
)
def test_what_is_no_circle_is_not_found(b: str) -> None:
    modules = {
        "": "mod a; mod b; pub use a::A; const LIMIT: u8 = 1;",
        "a": "use crate::b::B;",
        "b": b,
        "c": "",
    }
    assert circle_names(modules) == set()


def test_a_module_and_those_inside_it_may_use_each_other() -> None:
    modules = {"": "", "a": "mod x; pub use x::X; struct A;", "a::x": "use super::A; use crate::a;"}
    assert circle_names(modules) == set()


PYTHON = ROOT / "python" / "skywave"


def of_the_root(source: str, names: set[str]) -> list[str]:
    """What a module imports from the package's root other than modules of these names."""
    return [
        alias.name
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module == "skywave"
        for alias in node.names
        if alias.name not in names
    ]


def test_no_module_imports_what_the_package_exports() -> None:
    """import-linter is told to overlook imports of the root, since it cannot see the extension."""
    names = {path.stem for path in PYTHON.iterdir()} | {"_core"}
    files = sorted(PYTHON.rglob("*.py"))
    found = {str(path): of_the_root(path.read_text(), names) for path in files}
    assert len(found) > 100
    assert {path: alien for path, alien in found.items() if alien} == {}
    assert of_the_root("from skywave import _core, cli, run", names) == ["run"]
