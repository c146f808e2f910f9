"""``skywave/net/config.py``: the configuration of a connection, written from the core's schema."""

from __future__ import annotations

import json
from pathlib import Path

from skywave import _core
from tools.definitions import Schema
from tools.python_classes import Writer, formatted

PATH = Path(__file__).parent.parent / "python" / "skywave" / "net" / "config.py"
NAME = "Config"
HEAD = '''"""The configuration of a connection.

Written by ``make schema`` from the core's types and their documentation: do not edit.
"""

from __future__ import annotations

from attrs import field, frozen

from skywave.control import Control
from skywave.quantities import Bytes, Duration
from skywave.scenario.part import Part
'''


def text() -> str:
    """Return what the file must hold."""
    schema = Schema(json.loads(_core.socket_schema()))
    parts = ", ".join(name for name in schema.parts if name != NAME)
    imports = f"from skywave.scenario.parts import {parts}\n"
    return formatted(HEAD + imports + "\n" + Writer(schema).part(schema.parts[NAME]), PATH)
