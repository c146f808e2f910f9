"""Results as JSON."""

from __future__ import annotations

import json
import math
from typing import Any


def text(document: Any, indent: int | None = 2) -> str:
    """Return a document as JSON, which has no NaN and no infinities: these are null."""
    return json.dumps(_finite(document), indent=indent, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value
