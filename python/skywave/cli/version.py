"""``skywave version``."""

from __future__ import annotations

import platform
from importlib.metadata import version as installed

from skywave.cli.console import JsonOption, out, print_json


def version(as_json: JsonOption = False) -> None:
    """Print the version of Skywave."""
    versions = {"skywave": installed("skywave"), "python": platform.python_version()}
    if as_json:
        print_json(versions)
    else:
        out().print(f"skywave {versions['skywave']} (Python {versions['python']})", highlight=False)
