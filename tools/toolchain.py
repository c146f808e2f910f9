"""Makes sure that this machine can build Rust: `python3 tools/toolchain.py`.

What is missing is installed under `.toolchain`, for this project alone: nothing outside that
folder changes. `.toolchain/bin`, which the Makefile has in its `PATH`, holds `cargo`, `rustc` and,
where there is no C compiler to link with, `cc` and `ar` by Zig. It needs Python's standard library.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / ".toolchain"
RUSTUP = "https://static.rust-lang.org/rustup/dist"
# Zig's compiler as a Python package, and the program that makes it take rustc's options; their
# versions are locked with those that `make dist` needs.
ZIG = re.compile(r"(?:ziglang|cargo-zigbuild)==.*")


def wanted() -> str:
    """Returns the version of Rust in `rust-toolchain.toml`."""
    file = (ROOT / "rust-toolchain.toml").read_text()
    chosen = re.search(r'^channel = "(.*)"', file, re.MULTILINE)
    if chosen is None:
        sys.exit("error: rust-toolchain.toml names no channel")
    return chosen[1]


def present() -> str | None:
    """Returns the version of the cargo that would build here, or None where there is none."""
    if shutil.which("cargo") is None:
        return None
    if shutil.which("rustup") is not None:
        return wanted()  # rustup's cargo installs what rust-toolchain.toml names
    said = subprocess.run(["cargo", "--version"], capture_output=True, text=True, check=False)
    found = re.match(r"cargo (\d+\.\d+\.\d+)", said.stdout)
    return found[1] if found else None


def order(version: str) -> tuple[int, ...]:
    """Returns a version as numbers that compare as versions do."""
    return tuple(int(part) for part in version.split("."))


def program(name: str, command: list[str], **environment: str) -> None:
    """Puts a program into `.toolchain/bin` that runs `command` with variables set."""
    lines = ["#!/bin/sh"]
    lines += [f"export {key}={shlex.quote(value)}" for key, value in environment.items()]
    lines += [f'exec {shlex.join(command)} "$@"', ""]
    path = OWN / "bin" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))
    path.chmod(0o755)


def install_rust(version: str) -> None:
    """Installs Rust by rustup under `.toolchain`."""
    rustup, cargo = OWN / "rustup", OWN / "cargo"
    variables = {"RUSTUP_HOME": str(rustup), "CARGO_HOME": str(cargo)}
    source = f"{RUSTUP}/{platform.machine()}-unknown-linux-gnu/rustup-init"
    with tempfile.TemporaryDirectory() as folder:
        init = Path(folder) / "rustup-init"
        init.write_bytes(fetch(source))
        digest = fetch(source + ".sha256").split()[0].decode()
        if hashlib.sha256(init.read_bytes()).hexdigest() != digest:
            sys.exit(f"error: {source} arrived damaged: run make again")
        init.chmod(0o755)
        options = ("-y", "--quiet", "--no-modify-path", "--profile=minimal")
        subprocess.run(
            [
                init,
                *options,
                f"--default-toolchain={version}",
                "--component",
                "clippy",
                "--component",
                "rustfmt",
            ],
            env={**os.environ, **variables, "RUSTUP_INIT_SKIP_PATH_CHECK": "yes"},
            stdout=subprocess.DEVNULL,  # it would tell how to change the PATH, which make has done
            check=True,
        )
    for name in ("cargo", "rustc", "rustdoc", "rustup"):
        program(name, [str(cargo / "bin" / name)], **variables)


def install_linker() -> None:
    """Installs Zig under `.toolchain`, as `cc` and `ar`."""
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            "error: Python lacks venv: install it, on Debian and Ubuntu by apt install python3-venv"
        )
    folder = OWN / "zig"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    packages = ZIG.findall((ROOT / "requirements" / "dist.txt").read_text())
    subprocess.run([python, "-m", "pip", "install", "--quiet", *packages], check=True)
    zigbuild = str(folder / "bin" / "cargo-zigbuild")
    variables = {
        "CARGO_ZIGBUILD_PYTHON_PATH": str(python),
        "XDG_CACHE_HOME": str(OWN / "cache"),
    }
    program("cc", [zigbuild, "zig", "cc", "--"], **variables)
    program("ar", [zigbuild, "zig", "ar", "--"], **variables)


def fetch(source: str) -> bytes:
    """Returns what is at an address; ends the program with one line where it cannot be had."""
    try:
        with urllib.request.urlopen(source, timeout=60) as answer:  # noqa: S310 - the scheme is https
            return bytes(answer.read())
    except (urllib.error.URLError, OSError) as error:
        sys.exit(
            f"error: {source} cannot be had ({error}): install Rust as https://rustup.rs says, "
            "then run make again"
        )


def main() -> None:
    """Installs what is missing, and says so."""
    version, found = wanted(), present()
    if found is None or order(found) < order(version):
        why = "Rust is missing" if found is None else f"Rust {found} is older than {version}"
        if platform.system() != "Linux":
            sys.exit(f"error: {why}: install it as https://rustup.rs says, then run make again")
        print(
            f"{why}: installing Rust {version} into .toolchain, for this project alone", flush=True
        )
        install_rust(version)
    if shutil.which("cc") is None:
        print("A C compiler is missing: installing Zig into .toolchain, to link with", flush=True)
        install_linker()


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: {shlex.join(map(str, error.cmd))} failed with status {error.returncode}")
    except KeyboardInterrupt:
        sys.exit(130)  # what is half there, the next call installs anew
    except OSError as error:  # a full disk, or a system without glibc, for which rustup-init is
        sys.exit(f"error: {error}: install Rust as https://rustup.rs says, then run make again")
