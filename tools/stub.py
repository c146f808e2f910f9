"""``skywave/_core.pyi``: the docstrings of sockets and of controls' events, from the core."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING

from skywave import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

PATH = Path(__file__).parent.parent / "python" / "skywave" / "_core.pyi"
DESCRIBED = (
    *(_core.Connection, _core.Listener, _core.Endpoint),
    *(_core.Ack, _core.AckedPacket, _core.Context, _core.Loss, _core.LostPacket, _core.Mark),
    *(_core.MarkedPackets, _core.Pacing, _core.RoundTrip, _core.Sent, _core.Timeout),
)
Documented = ast.ClassDef | ast.FunctionDef


def text() -> str:
    """Return what the file must hold: its types, and the documentation that ``help`` shows."""
    lines = PATH.read_text(encoding="utf-8").splitlines()
    for node, doc in reversed(list(_documented(ast.parse("\n".join(lines))))):
        first = node.body[0]
        if not isinstance(first, ast.Expr):
            raise ValueError(f"{node.name} has no docstring to replace")
        last = first.end_lineno
        lines[first.lineno - 1 : last] = _docstring(doc, " " * first.col_offset).splitlines()
    return "\n".join(lines) + "\n"


def _documented(stub: ast.Module) -> Iterator[tuple[Documented, str]]:
    """Yield what has documentation in the core, in its order in the stub."""
    classes = {node.name: node for node in stub.body if isinstance(node, ast.ClassDef)}
    for described in sorted(DESCRIBED, key=lambda kind: classes[kind.__name__].lineno):
        node = classes[described.__name__]
        yield node, inspect.getdoc(described) or ""
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and not member.name.startswith("__"):
                yield member, inspect.getdoc(getattr(described, member.name)) or ""


def _docstring(doc: str, margin: str) -> str:
    body = indent(f'"""{doc}', margin)
    return f'{body}\n{margin}"""' if "\n" in doc else f'{body}"""'
