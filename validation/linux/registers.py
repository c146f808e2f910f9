"""Processors with more registers than User Mode Linux has room for: ``registers.c`` helps there."""

from __future__ import annotations

import os
from pathlib import Path

from validation.linux.namespace import run

SOURCE = Path(__file__).with_suffix(".c")
COMPILER = "cc"


def are_too_many() -> bool:
    """Return whether this processor has registers that Linux 6.1's User Mode Linux cannot keep."""
    return "amx_tile" in Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").split()


def environment(folder: Path) -> dict[str, str]:
    """Return what User Mode Linux needs in its environment here; the folder is for what it loads.

    Raises ``LabError`` where that cannot be built.
    """
    if not are_too_many():
        return {}
    library = folder / "registers.so"
    run(COMPILER, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE))
    others = os.environ.get("LD_PRELOAD", "").split()
    return {"LD_PRELOAD": " ".join([str(library), *others])}
