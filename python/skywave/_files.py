"""Output files and directories that appear complete or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def replacing_file(file: str | Path) -> Iterator[Path]:
    """Yield a path to write to; at the end, move what was written to ``file``.

    If the block raises (or is interrupted), ``file`` is unchanged. A device or a pipe is written to
    directly.
    """
    file = Path(file)
    if file.exists() and not file.is_file():
        yield file
        return
    partial = _partial(file)
    try:
        partial.touch()
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(file)) from error
    try:
        yield partial
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(file: Path, data: bytes | memoryview) -> None:
    """Put data into a file, which is as it was if that fails.

    Raises:
        OSError: If it cannot be written; the error names ``file``.

    """
    partial = _partial(file)
    try:
        with partial.open("wb", buffering=0) as written:
            # The system may take a part of it only: then it says why of the rest.
            left = memoryview(data)
            while left:
                left = left[written.write(left) :]
        partial.replace(file)
    except BaseException as error:
        partial.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, str(file)) from error
        raise


def _partial(file: Path) -> Path:
    return file.with_name(f".{file.name}.partial-{os.getpid()}")


@contextmanager
def replacing(directory: str | Path) -> Iterator[Path]:
    """Yield an empty directory to write into; at the end, move its contents into ``directory``.

    Files of the same name are replaced, others kept. If the block raises (or is interrupted),
    ``directory`` is unchanged.
    """
    directory = Path(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(f"{directory} is a file: give a directory")
    partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.partial-", dir=directory.parent))
    try:
        yield partial
        directory.mkdir(exist_ok=True)
        for written in sorted(partial.rglob("*")):
            target = directory / written.relative_to(partial)
            if written.is_dir():
                target.mkdir(exist_ok=True)
            else:
                written.replace(target)
    finally:
        shutil.rmtree(partial, ignore_errors=True)
