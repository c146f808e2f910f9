"""Rust's version is the same in all places: what is promised is what builds and is tested."""

from __future__ import annotations

import subprocess
import tomllib

from conftest import ROOT


def test_the_declared_version_is_the_one_that_builds() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    chosen = tomllib.loads((ROOT / "rust-toolchain.toml").read_text())["toolchain"]["channel"]
    assert workspace["package"]["rust-version"] == chosen
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
