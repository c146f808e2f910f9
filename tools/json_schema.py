"""``docs/scenario.schema.json``: the JSON Schema, for editors."""

from __future__ import annotations

import json
from pathlib import Path

from skywave import _core

PATH = Path(__file__).parent.parent / "docs" / "scenario.schema.json"


def text() -> str:
    """Return what the file must hold."""
    return json.dumps(json.loads(_core.scenario_schema()), indent=2, ensure_ascii=False) + "\n"
