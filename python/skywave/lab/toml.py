"""Writes scenarios as TOML for readers: a header for each part and each flow."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

BARE = re.compile(r"[A-Za-z0-9_-]+")


def written(document: Mapping[str, Any]) -> str:
    """Return a document as TOML: plain values first, then tables and arrays of tables."""
    plain = {key: value for key, value in document.items() if not _has_header(value)}
    parts = [_lines(plain)]
    for key, value in document.items():
        if isinstance(value, dict):
            parts.append(f"[{_key(key)}]\n{_lines(value)}")
        elif _has_header(value):
            parts.extend(f"[[{_key(key)}]]\n{_lines(element)}" for element in value)
    return "\n".join(part for part in parts if part)


def _has_header(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(element, dict) for element in value)
    return isinstance(value, dict)


def _lines(table: Mapping[str, Any]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if BARE.fullmatch(key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(inner)}" for key, inner in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    return json.dumps(value, ensure_ascii=False)
