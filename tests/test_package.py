"""What `pip install` brings: the wheel in an empty environment, away from this source tree.

`make dist` builds the wheels of a release. Here it is the wheel of what `make setup` has built,
unless SKYWAVE_DIST names a folder of built ones; then the source distribution there is built too.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest

from conftest import ROOT

BIN = ROOT / ".venv" / "bin"
DIST = os.environ.get("SKYWAVE_DIST")

SOCKETS = """
from skywave.net import Endpoint

with Endpoint.udp("127.0.0.1", 0) as here, Endpoint.udp("127.0.0.1", 0) as there:
    server = here.listen(5001)
    udp_port = here.local_address[1]
    client = there.connect("127.0.0.1", 5001, udp_port=udp_port)
    client.send(b"hello")
    print(server.accept().recv().decode())
"""


def done(*command: object, cwd: Path) -> str:
    """Runs a program that must succeed, without this tree in its way; returns what it printed."""
    apart = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    result = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**apart, "COLUMNS": "100"},
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def environment(folder: Path, package: Path) -> Path:
    """Makes an empty environment with a package in it; returns its programs."""
    done(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
    python = folder / "bin" / "python"
    install = (BIN / "uv", "pip", "install", "--quiet", "--system-certs", "--python", python)
    done(*install, package, cwd=folder.parent)
    return folder / "bin"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the wheel for this machine."""
    if DIST:
        (built,) = Path(DIST).glob("*x86_64.whl")
        return built.resolve()
    folder = tmp_path_factory.mktemp("dist")
    build = ("build", "--profile", "quick", "--locked", "--quiet", "--out", folder)
    done(BIN / "maturin", *build, "--compatibility", "linux", cwd=ROOT)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns the programs of an environment with the wheel in it, and nothing else."""
    return environment(tmp_path_factory.mktemp("installed") / "env", wheel)


def test_its_version_is_that_of_the_changelog(programs: Path, tmp_path: Path) -> None:
    newest = re.search(r"^## (\d+\.\d+\.\d+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert newest
    assert f"skywave {newest[1]}" in done(programs / "skywave", "--version", cwd=tmp_path)


def test_it_reproduces_a_paper(programs: Path, tmp_path: Path) -> None:
    done(programs / "skywave", "reproduce", "nor2011", "--out", "nor", cwd=tmp_path)
    assert (tmp_path / "nor" / "report.html").exists()


def test_it_sweeps(programs: Path, tmp_path: Path) -> None:
    scenario = ROOT / "examples" / "red.toml"
    values = "flows[*].transport.tcp.control=reno,cubic"
    sweep = (
        "sweep",
        scenario,
        "--set",
        values,
        "--set",
        "duration=5 s",
        "--seeds",
        "2",
        "--out",
        "red",
    )
    done(programs / "skywave", *sweep, cwd=tmp_path)
    assert "reno" in done(programs / "skywave", "compare", "red", "--by", "control", cwd=tmp_path)


def test_it_has_sockets(programs: Path, tmp_path: Path) -> None:
    assert done(programs / "python", "-c", SOCKETS, cwd=tmp_path) == "hello\n"


def test_what_needs_an_extra_names_it(programs: Path, tmp_path: Path) -> None:
    asked = subprocess.run(
        [programs / "skywave", "lab"], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert asked.returncode != 0
    assert "skywave[lab]" in asked.stderr
    assert "Traceback" not in asked.stderr


def test_its_metadata_name_extras_licences_and_readme(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = HeaderParser().parsestr(archive.read(name).decode())
        assert metadata.get_all("Provides-Extra") == ["dask", "lab", "pandas", "polars", "xarray"]
        assert metadata["License-Expression"] == "Apache-2.0 OR MIT"
        assert metadata["Description-Content-Type"].startswith("text/markdown")
        # The page of the laboratory and the stored results of ns-2 are inside.
        names = archive.namelist()
        assert any(name.startswith("skywave/lab/") and name.endswith(".js") for name in names)
        assert any(re.fullmatch(r"skywave_papers/\w+/ns2/.*\.csv", name) for name in names)
        assert any(name.endswith("/templates/paper.html.j2") for name in names)
        assert {"skywave/py.typed", "skywave_papers/py.typed"} <= set(names)


def test_the_source_distribution_has_what_it_is_built_from(tmp_path: Path) -> None:
    done(BIN / "maturin", "sdist", "--out", tmp_path, cwd=ROOT)
    (source,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
    # Later versions of Python ask for a filter, which 3.11.2, that of Debian 12, does not know.
    done("tar", "-xzf", source, cwd=tmp_path)
    assert {"Cargo.toml", "Cargo.lock", "pyproject.toml", "PKG-INFO"} <= names
    assert {"crates/python/src/lib.rs", "crates/transport/Cargo.toml"} <= names
    assert {"python/skywave/__init__.py", "LICENSE-MIT", "README.md"} <= names
    packages = (path.relative_to(ROOT).as_posix() for path in (ROOT / "python").rglob("*.py"))
    assert names.issuperset(packages)
    assert {"python/skywave/py.typed", "python/skywave_papers/py.typed"} <= names
    assert "python/skywave_papers/lien2009/templates/paper.html.j2" in names
    # As pip would call cargo, by the options in its pyproject.toml.
    (unpacked,) = (path for path in tmp_path.iterdir() if path.is_dir())
    options = tomllib.loads((unpacked / "pyproject.toml").read_text())["tool"]["maturin"]
    locked = ["--locked"] if options.get("locked") else []
    done("cargo", "metadata", "--format-version", "1", *locked, cwd=unpacked)


@pytest.mark.skipif(not DIST, reason="it is built for minutes: SKYWAVE_DIST=dist after make dist")
@pytest.mark.timeout(1800)
def test_the_source_distribution_builds(tmp_path: Path) -> None:
    (source,) = Path(DIST or "").glob("*.tar.gz")
    programs = environment(tmp_path / "env", source.resolve())
    assert "skywave" in done(programs / "skywave", "--version", cwd=tmp_path)


def test_crates_are_ready_to_be_packaged() -> None:
    command = ("cargo", "package", "--workspace", "--exclude", "skywave-python", "--locked")
    done(*command, "--no-verify", "--allow-dirty", "--quiet", cwd=ROOT)
    crates = [path.parent for path in (ROOT / "crates").glob("*/Cargo.toml")]
    for crate in crates:
        if crate.name != "python":
            assert (crate / "README.md").exists(), crate
