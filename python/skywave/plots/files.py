"""Figures as files: PDF, SVG and PNG, the same bytes for the same figure."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from skywave._files import replacing_file
from skywave.plots.style import style

# Without dates and versions.
_OPTIONS: dict[str, dict[str, Any]] = {
    "pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
    # Faster than the default level, and little larger.
    "png": {"metadata": {"Software": None}, "pil_kwargs": {"compress_level": 3}},
    "svg": {"metadata": {"Date": None}},
}
FORMATS = tuple(_OPTIONS)


def render(figure: Figure, format_: str, *, has_text: bool = False) -> bytes:
    """Return a figure in a format: ``pdf`` with embedded fonts, ``svg``, or ``png`` at 300 dpi.

    With ``has_text``, the text of an ``svg`` can be edited and searched, and needs the font.
    Otherwise it is outlines, and looks the same everywhere.
    """
    file = io.BytesIO()
    with style(), mpl.rc_context({"svg.fonttype": "none" if has_text else "path"}):
        figure.savefig(file, format=format_, **_OPTIONS[format_])
    return file.getvalue()


def format_of(file: str | Path) -> str:
    """Return the format that a file's name selects."""
    format_ = Path(file).suffix.removeprefix(".").lower()
    if format_ not in FORMATS:
        names = ", ".join(f".{known}" for known in FORMATS)
        raise ValueError(f"{file}: the name of a figure ends in one of {names}")
    return format_


def write(figure: Figure, files: Iterable[str | Path]) -> list[Path]:
    """Write a figure to files, each in the format of its name; return their paths.

    Text stays text, in SVG too.

    Raises:
        ValueError: If a name has no known format. Nothing is written then.
        OSError: If a file cannot be written.
    """
    paths = [Path(file) for file in files]
    formats = [format_of(path) for path in paths]
    for path, format_ in zip(paths, formats, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing_file(path) as partial:
            partial.write_bytes(render(figure, format_, has_text=True))
    return paths
