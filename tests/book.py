"""Runs the code blocks of a page of the book, in their order, in a directory of the page's own.

A comment of HTML before a block says what is special about it:

=========================  ======================================================================
``<!-- file: NAME -->``    The block is the contents of this file, which the reader saves.
``<!-- background -->``    The command runs, as in a second shell, until the page ends.
``<!-- needs: NAME -->``   The block takes a privilege; it is left out where that is missing.
``<!-- varies -->``        The output below differs from run to run: only its words are compared,
                           and how long the run was.
``<!-- set up -->``        The tests run in what these commands have made: they are looked up only.
``<!-- drawing -->``       The text is no output.
``<!-- elsewhere -->``     The block is for other machines, and is not run.
``<!-- elsewhere: PAGE -->``  The block is not run, since a block of that page begins with the same
                           command. The output below is a part of that page's.
``<!-- figure: NAME -->``  The image that follows is the one which the page's commands wrote to this
                           file. ``UPDATE_FIGURES=1`` stores it.
``<!-- from: FILE -->``    Rust: the lines are in this file, which cargo compiles and tests.
``<!-- crate: NAME -->``   The command runs in the reader's own crate. Its ``src/main.rs`` is the
                           page's Rust so far, in the page's order.
=========================  ======================================================================

A ``text`` block is the output of the block before it. A line of dots stands for what is left out.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
import warnings
from contextlib import ExitStack, chdir, contextmanager, redirect_stdout
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING
from unittest import mock

from PIL import Image, ImageChops, ImageStat

from conftest import ROOT, run_cli
from patience import PATIENCE_S
from test_net_command import free_udp_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

FENCE = re.compile(
    r"(?:^<!-- (?P<mark>[^>]+?) -->\n+)?"
    r"^(?:```(?P<language>[^\n]*)\n(?P<text>.*?)^```$|!\[[^\]]+\]\((?P<image>[^)]+)\)$)",
    re.MULTILINE | re.DOTALL,
)
FRAMES = str.maketrans(dict.fromkeys("┃│║|┏┓┗┛└┘┡┩╇┳┴┬├┤┼╞╡━─═ ", " "))
"""What rich draws tables with. The widths of columns are the terminal's."""
IN_PROCESS = r"skywave (?!emulate)(?!.*--(?:live|both))(?:'[^']*'|\"[^\"]*\"|[^'\"|<>&;$`])*$"
"""Commands that are one program and need no namespaces."""
UDP_PORT = re.compile(r"\b700[1-9]\b")
"""Those that pages name, beside the default."""
FIGURES = ROOT / "docs" / "figures"
DOTS = {"...", "…"}
LENGTH = re.compile(r"\d[\d.,]* \w+ in real time")
"""How long a run was, which its scenario decides."""
ENVIRONMENT = {"COLUMNS": "120", "BROWSER": "true"}
"""Of the commands: as wide as the pages, and pages that they open need no screen."""


@dataclass(frozen=True)
class Block:
    """A fenced code block, or an image: where it begins, and what stands before it."""

    line: int
    mark: str
    language: str
    text: str

    def argument(self, mark: str) -> str | None:
        """Return what follows a mark of this name, or nothing if it has another."""
        name, _, argument = self.mark.partition(":")
        return argument.strip() if name == mark else None


def blocks(page: str) -> list[Block]:
    """Return the code blocks and images of a page. Sphinx's directives are none."""
    return [
        Block(
            page.count("\n", 0, found.end("mark") if found["mark"] else found.start()) + 1,
            found["mark"] or "",
            "image" if found["image"] else found["language"],
            found["image"] or found["text"],
        )
        for found in FENCE.finditer(page)
        if not (found["language"] or "").startswith("{")
    ]


def output_shown(page: str, command: str) -> str:
    """Return the output of a command that another page shows, whose test runs it."""
    others = blocks((ROOT / "docs" / page).read_text())
    for block, output in pairwise(others):
        if any(line.startswith(command.strip()) for line in block.text.splitlines()):
            assert output.language == "text"
            return output.text
    raise AssertionError(f"{page} does not run {command.strip()!r}")


def with_free_ports(page: str) -> str:
    """Return a page with UDP ports that are free on this host, in the place of those it names."""
    chosen = {name: str(free_udp_port()) for name in sorted(set(UDP_PORT.findall(page)))}
    return UDP_PORT.sub(lambda found: chosen[found[0]], page)


def words(line: str) -> str:
    """Return a line of output without frames and with single spaces."""
    return " ".join(line.translate(FRAMES).split())


def assert_shown(shown: str, printed: str, *, varies: bool) -> None:
    """Assert that the lines of a page are among those that were printed, in this order."""
    left = [plain for line in printed.splitlines() if (plain := words(line))]
    for line in shown.splitlines():
        wanted = words(line)
        if not wanted or wanted in DOTS:
            continue
        places = [at for at, one in enumerate(left) if same(wanted, one, varies=varies)]
        assert places, f"{wanted!r} is not among what is printed:\n" + "\n".join(left)
        del left[: places[0] + 1]


def same(shown: str, printed: str, *, varies: bool) -> bool:
    """Return whether two lines are the same, or would be if their numbers were."""
    if varies:
        if LENGTH.findall(shown) != LENGTH.findall(printed):
            return False
        shown, printed = (
            re.sub(r"\d[\d.,]*(?: [mu]?s\b)?", "0", line) for line in (shown, printed)
        )
    if shown.endswith(" ..."):
        return printed.startswith(shown.removesuffix("..."))
    return shown == printed


class Reader:
    """Someone who reads a page and does what it says, in a directory beside the examples."""

    def __init__(self, directory: Path, *, missing: Mapping[str, str]) -> None:
        for name in ("examples", "validation"):
            (directory / name).symlink_to(ROOT / name)
        self._directory = directory
        self._missing = missing
        self._names: dict[str, object] = {"__name__": "__main__"}
        self._background: list[subprocess.Popen[bytes]] = []
        self._rust: list[str] = []
        self.left_out: list[str] = []
        """Why blocks were left out."""

    def read(self, page: str) -> None:
        """Run all blocks of a page."""
        printed: str | None = None
        with ExitStack() as end, _modules_of(self._directory):
            end.callback(self._stop)
            for block in blocks(with_free_ports(page)):
                if (other := block.argument("elsewhere")) is not None:
                    printed = output_shown(other, block.text) if other else None
                    continue
                try:
                    printed = self._do(block, printed)
                except BaseException as error:
                    error.add_note(f"in the block from line {block.line} on:\n{block.text}")
                    raise

    def _do(self, block: Block, printed: str | None) -> str | None:  # noqa: PLR0911
        """Do what a block says, and return what that prints; nothing if it was left out."""
        if (privilege := block.argument("needs")) and (reason := self._missing[privilege]):
            self.left_out.append(f"needs {privilege}: {reason}")
            return None
        if name := block.argument("file"):
            path = self._directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
            return ""
        match block.language:
            case "text":
                if printed is not None and block.argument("drawing") is None:
                    varies = block.argument("varies") is not None
                    assert_shown(block.text, printed, varies=varies)
                return printed
            case "sh" if block.argument("set up") is not None:
                assert_set_up(block.text)
                return None
            case "sh" if block.argument("background") is not None:
                self._start(block.text)
                return ""
            case "sh" if name := block.argument("crate"):
                return self._in_crate(self._directory / name, block.text)
            case "sh":
                return self._shell(block.text)
            case "python":
                return self._python(block.text)
            case "image":
                if name := block.argument("figure"):
                    assert_drawn(self._directory / name, FIGURES / name)
                    assert block.text.endswith(f"figures/{name}"), block.text
                return None
            case "rust":
                assert_copied(block)
                self._rust.append(block.text)
                return None
        raise AssertionError(f"nobody runs a block of {block.language!r}")

    def _environment(self) -> dict[str, str]:
        programs = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))  # noqa: PTH120
        return {**os.environ, "PATH": programs, **ENVIRONMENT}

    def _shell(self, text: str) -> str:
        commands = text.replace("\\\n", " ").splitlines()
        if all(re.match(IN_PROCESS, command) for command in commands):
            return "".join(self._skywave(command) for command in commands)
        done = subprocess.run(
            ["bash", "-eu", "-c", text],
            capture_output=True,
            text=True,
            check=False,
            cwd=self._directory,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def _in_crate(self, crate: Path, text: str) -> str:
        """Run commands in a crate that is outside of the tree, beside the checkout.

        What it depends on is compiled once, most of it with the tests in Rust: it has the versions,
        the profile and the directory of the tree. (Where the checkout is, is a part of the name by
        which cargo knows its crates.)
        """
        manifest = crate / "Cargo.toml"
        assert manifest.is_file(), "the page has its Cargo.toml saved before"
        manifest.write_text(manifest.read_text().replace('"../skywave/', f'"{ROOT}/'))
        if self._rust:
            (crate / "src").mkdir(exist_ok=True)
            (crate / "src" / "main.rs").write_text("\n".join(self._rust))
        (crate / "Cargo.lock").write_text((ROOT / "Cargo.lock").read_text())
        target = os.environ.get("CARGO_TARGET_DIR", str(ROOT / "target"))
        if not (crate / "target").exists():
            (crate / "target").symlink_to(target)
        toolchain = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]
        profile = tomllib.loads((ROOT / "Cargo.toml").read_text())["profile"]["dev"]
        done = subprocess.run(
            ["bash", "-eu", "-c", text],
            capture_output=True,
            text=True,
            check=False,
            cwd=crate,
            env={
                **self._environment(),
                "CARGO_TARGET_DIR": target,
                "CARGO_PROFILE_DEV_OPT_LEVEL": str(profile["opt-level"]),
                "CARGO_PROFILE_DEV_LTO": profile["lto"],
                "CARGO_PROFILE_DEV_DEBUG": "false",
                "RUSTUP_TOOLCHAIN": toolchain["channel"],
            },
            stdin=subprocess.DEVNULL,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def _skywave(self, command: str) -> str:
        """Run one command of Skywave here, which spares the start of an interpreter."""
        with mock.patch.dict(os.environ, ENVIRONMENT), warnings.catch_warnings():
            # Workers print before a scheduler knows them; a sweep then warns, and waits for them.
            warnings.filterwarnings("ignore", "the Dask cluster has no workers")
            done = run_cli(*shlex.split(command)[1:], cwd=self._directory)
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    def _start(self, text: str) -> None:
        """Run commands beside the others. What they serve is there when they have printed."""
        log = self._directory / f"background-{len(self._background)}.log"
        with log.open("wb") as file:
            process = subprocess.Popen(
                ["bash", "-c", f"exec {text}"],
                stdout=file,
                stderr=subprocess.STDOUT,
                cwd=self._directory,
                env=self._environment(),
            )
        self._background.append(process)
        while not log.stat().st_size:
            assert process.poll() is None, f"it ended with status {process.returncode}"
            time.sleep(0.02)

    def _stop(self) -> None:
        for process in reversed(self._background):
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=PATIENCE_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def _python(self, text: str) -> str:
        out = io.StringIO()
        with redirect_stdout(out), chdir(self._directory):
            exec(compile(text, "<book>", "exec"), self._names)  # noqa: S102
        return out.getvalue()


@contextmanager
def _modules_of(directory: Path) -> Iterator[None]:
    """Have Python find the modules that a page has the reader save, until its end."""
    before = set(sys.modules)
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.path.remove(str(directory))
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file and file.startswith(str(directory)):
                del sys.modules[name]


def assert_set_up(text: str) -> None:
    """Assert that commands which set up a checkout are there. Other tests run what they do."""
    makefile = (ROOT / "Makefile").read_text()
    manifest = (ROOT / "crates" / "skywave" / "Cargo.toml").read_text()
    for line in text.splitlines():
        match shlex.split(line, comments=True):
            case ["make", target]:
                assert f"\n{target}: " in makefile, line
            case ["cargo", "run", "-p", "skywave", "--example", name]:
                assert f'name = "{name}"' in manifest, line
            case ["cargo", "new", _] | ["cargo", "new", "--lib", _]:
                pass
            case ["cargo", "doc", *arguments]:
                assert " ".join(arguments[:2]) in makefile, line
            case [".venv/bin/maturin", "build", "--release", "--out", "dist"]:
                assert "maturin build --release " in makefile, line
            case ["pip", "install", wheel]:  # tests/test_package.py installs one
                assert "dist/skywave-*.whl" in wheel, line
            case ["source", ".venv/bin/activate"] | []:
                pass
            case _:
                raise AssertionError(f"{line!r} sets up nothing that is known")


def assert_drawn(drawn: Path, stored: Path) -> None:
    """Assert that a figure looks like the stored one, which ``UPDATE_FIGURES=1`` replaces."""
    figure = Image.open(drawn).convert("RGB")
    figure.thumbnail((800, 800), Image.Resampling.LANCZOS)
    if os.environ.get("UPDATE_FIGURES"):
        figure.convert("P", palette=Image.Palette.ADAPTIVE, colors=32).save(stored, optimize=True)
    with Image.open(stored) as image:
        assert image.size == figure.size
        difference = ImageChops.difference(image.convert("RGB"), figure)
    assert max(ImageStat.Stat(difference).mean) < 3, f"{stored.name} is not what the page draws"


def assert_copied(block: Block) -> None:
    """Assert that the lines are those of a file which cargo compiles and tests."""
    name = block.argument("from")
    assert name, "a block of Rust says which example it is from"
    assert re.fullmatch(r"(crates/\w+/)?examples/\w+\.rs|crates/\w+/src/lib\.rs", name), name
    source = (ROOT / name).read_text()
    if name.endswith("lib.rs"):  # the example of its documentation, without the lines it hides
        comments = re.findall(r"^//! ?(.*\n)", source, re.MULTILINE)
        source = "".join(line for line in comments if not line.startswith("# "))
    for part in re.split(r"^// \.\.\.\n", block.text, flags=re.MULTILINE):
        assert part.strip("\n") in source, f"{name} does not have:\n{part}"
