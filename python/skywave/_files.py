"""Output files and directories that appear complete or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@contextmanager
def replacing_file(file: str | Path) -> Iterator[Path]:
    """Yield a path to write to; at the end, move what was written to ``file``.

    If the block raises (or is interrupted), ``file`` is unchanged. A device or a pipe is written to
    directly. The error of a full disk names ``file``.
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
        with _naming(file):
            yield partial
        partial.replace(file)
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def replacing_files(named: Mapping[str, str] | None) -> Iterator[dict[str, str]]:
    """Yield paths to write to instead, by the same names: none that is not whole stays behind."""
    with ExitStack() as files:
        yield {
            name: str(files.enter_context(replacing_file(file)))
            for name, file in (named or {}).items()
        }


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Let the error of a full disk name what was to be written; the system names no file."""
    try:
        yield
    except OSError as error:
        number = error.errno
        if number is None or not is_full(error):
            raise
        raise OSError(number, os.strerror(number), str(path)) from error


def is_full(error: OSError) -> bool:
    """Return whether an error says that there is no room, on the disk or for the user."""
    return error.errno in {errno.ENOSPC, errno.EDQUOT}


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
    ``directory`` is unchanged. The error of a full disk names ``directory``.
    """
    directory = Path(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(f"{directory} is a file: give a directory")
    partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.partial-", dir=directory.parent))
    try:
        with _naming(directory):
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
