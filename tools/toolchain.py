"""Makes sure that this machine can build Rust: `python3 tools/toolchain.py`.

What is missing is installed under `.toolchain`, for this project alone: nothing outside that
folder changes. `.toolchain/bin`, which the Makefile has in its `PATH`, holds `cargo`, `rustc` and,
where there is no C compiler to link with, `cc` and `ar` by Zig.
"""

from __future__ import annotations

import importlib.util
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / ".toolchain"
REQUIREMENTS = ROOT / "requirements" / "toolchain.txt"
SET_UP_RUST = "import puccinialin, sys; puccinialin.setup_rust(sys.argv[1])"


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


def bootstrap() -> Path:
    """Returns the Python of an environment under `.toolchain` that has what installs compilers."""
    if importlib.util.find_spec("ensurepip") is None:
        sys.exit(
            "error: Python lacks venv: install it, on Debian and Ubuntu by apt install python3-venv"
        )
    folder = OWN / "bootstrap"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = folder / "bin" / "python"
    pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    subprocess.run([*pip, "--requirement", REQUIREMENTS], check=True)
    return python


def install_rust(version: str) -> None:
    """Installs Rust by rustup under `.toolchain`."""
    # It would tell how to change the PATH, which make has done.
    subprocess.run([bootstrap(), "-c", SET_UP_RUST, OWN], stdout=subprocess.DEVNULL, check=True)
    homes = {"RUSTUP_HOME": str(OWN / "rustup"), "CARGO_HOME": str(OWN / "cargo")}
    for name in ("cargo", "rustc", "rustdoc", "rustup"):
        program(name, [str(OWN / "cargo" / "bin" / name)], **homes)
    rustup = OWN / "bin" / "rustup"
    components = ("--component", "clippy", "--component", "rustfmt")
    for command in (
        ("toolchain", "install", "--profile", "minimal", version, *components),
        ("default", version),
        ("toolchain", "uninstall", "stable"),
    ):
        subprocess.run([rustup, "--quiet", *command], stdout=subprocess.DEVNULL, check=True)


def install_linker() -> None:
    """Installs Zig under `.toolchain`, as `cc` and `ar`."""
    python = bootstrap()
    zigbuild = str(python.with_name("cargo-zigbuild"))
    variables = {
        "CARGO_ZIGBUILD_PYTHON_PATH": str(python),
        "XDG_CACHE_HOME": str(OWN / "cache"),
    }
    program("cc", [zigbuild, "zig", "cc", "--"], **variables)
    program("ar", [zigbuild, "zig", "ar", "--"], **variables)


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
        command = shlex.join(map(str, error.cmd))
        sys.exit(
            f"error: {command} failed with status {error.returncode}: install Rust as "
            "https://rustup.rs says, then run make again"
        )
    except KeyboardInterrupt:
        sys.exit(130)  # what is half there, the next call installs anew
    except OSError as error:  # a full disk
        sys.exit(f"error: {error}")
