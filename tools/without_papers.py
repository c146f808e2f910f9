"""Takes the papers out of a wheel: `python tools/without_papers.py WHEEL FOLDER`.

The library names no paper, so what is left is a package that works. `make alone` runs its tests.
"""

from __future__ import annotations

import configparser
import io
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

PAPERS = "skywave_papers"


def without_papers(text: str) -> str:
    """Returns `entry_points.txt` without those of the papers."""
    points = configparser.ConfigParser()
    points.optionxform = str  # type: ignore[assignment,method-assign]  # names have capitals
    points.read_string(text)
    for group in points.sections():
        for name, where in points.items(group):
            if where.startswith(PAPERS):
                points.remove_option(group, name)
    written = io.StringIO()
    points.write(written)
    return written.getvalue()


def main(wheel: Path, folder: Path) -> None:
    """Writes the wheel without the papers into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with ZipFile(wheel) as whole, ZipFile(folder / wheel.name, "w", ZIP_DEFLATED) as rest:
        for entry in whole.infolist():
            if entry.filename.startswith(f"{PAPERS}/"):
                continue
            data = whole.read(entry)
            if entry.filename.endswith(".dist-info/entry_points.txt"):
                data = without_papers(data.decode()).encode()
            if entry.filename.endswith(".dist-info/RECORD"):
                # Installers do not check what it says of the entry points.
                lines = data.decode().splitlines(keepends=True)
                data = "".join(line for line in lines if not line.startswith(PAPERS)).encode()
            rest.writestr(entry, data)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
