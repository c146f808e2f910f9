"""``skywave/net/stats.py``: the statistics of connections and endpoints, from the core."""

from __future__ import annotations

import json
from pathlib import Path

from skywave import _core
from tools.definitions import Schema
from tools.python_classes import Writer, formatted

PATH = Path(__file__).parent.parent / "python" / "skywave" / "net" / "stats.py"
HEAD = '''"""Statistics of connections and endpoints.

Written by ``make schema`` from the core's types and their documentation: do not edit.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Statistics:
    """Values that can be written as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """Return the values by name, those of inner objects too."""
        return asdict(self)


'''


def text() -> str:
    """Return what the file must hold."""
    schema = Schema(json.loads(_core.stats_schema()))
    decorator = "@dataclass(frozen=True, kw_only=True)"
    writer = Writer(schema, "Statistics", decorator=decorator)
    return formatted(HEAD + "\n\n".join(writer.classes()), PATH)
