"""``skywave --version``."""

from __future__ import annotations

import platform
import sys

from skywave._core import ENGINE


def print_version() -> None:
    """Print the version of Skywave and of Python."""
    version, _, _ = ENGINE.partition("+")
    sys.stdout.write(f"skywave {version} (Python {platform.python_version()})\n")
