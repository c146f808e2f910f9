"""Rust's versions: the one that builds and is tested, and the oldest that is promised."""

from __future__ import annotations

import subprocess
import tomllib

from conftest import ROOT


def parts(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_the_promised_version_is_not_newer_than_the_one_that_builds() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    chosen = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    promised = workspace["package"]["rust-version"]
    assert len(parts(promised)) == 3, "as rustup names it"
    assert parts(promised) <= parts(chosen)
    said = subprocess.run(
        ["rustc", "--version"], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert said.stdout.split()[1] == chosen


def test_every_crate_takes_it_from_the_workspace() -> None:
    manifests = sorted((ROOT / "crates").glob("*/Cargo.toml"))
    packages = {path.parent.name: tomllib.loads(path.read_text())["package"] for path in manifests}
    assert packages
    for crate, package in packages.items():
        assert package["rust-version"] == {"workspace": True}, crate
