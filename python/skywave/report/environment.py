"""The machine and the versions that a report was made with."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path


def describe() -> dict[str, str]:
    """Return date, versions and machine, as text by name."""
    system = f"{platform.system()} {platform.release()}"
    return {
        "made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "skywave": version("skywave"),
        "machine": f"{_processor()}, {os.cpu_count()} cores, {system}",
        "Python": platform.python_version(),
        "libraries": ", ".join(
            f"{name} {version(name)}" for name in ("pyarrow", "numpy", "scipy", "matplotlib")
        ),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())
