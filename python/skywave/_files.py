"""Atomic output: a file appears complete or not at all."""

from __future__ import annotations

import errno
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

WRITTEN = ".skywave-written.json"
"""What lists the files of a directory that were written as a whole."""
PROBE_BYTES = 4096
"""What a full disk has no room for."""


def read_text(file: str | Path) -> str:
    """Return the text of a file or a pipe, without a mark of its byte order.

    Raises:
        OSError: If it cannot be read, or is neither. A device may be endless; a file of the
            kernel's, which says that it is empty, may have its reader wait.
        UnicodeDecodeError: If it is not UTF-8.
    """
    file = Path(file)
    about = file.stat()
    if stat.S_ISREG(about.st_mode) and about.st_size == 0:
        raise OSError(errno.ENODATA, "the file is empty", str(file))
    if stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode):
        raise OSError(errno.EINVAL, "a device: give a file or a pipe", str(file))
    return file.read_text(encoding="utf-8-sig")


def check_writable(directory: str | Path) -> None:
    """Check that files can be written into a directory, or that it can be created; create nothing.

    Raises:
        OSError: If not; the error names ``directory``.
    """
    directory = Path(directory)
    there = directory.absolute()
    while not there.exists():
        there = there.parent
    if not there.is_dir():
        raise NotADirectoryError(f"{there} is a file: give a directory")
    try:
        with tempfile.TemporaryFile(dir=there, buffering=0) as probe:
            probe.write(bytes(PROBE_BYTES))
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(directory)) from error


@contextmanager
def made_directory(directory: Path) -> Iterator[None]:
    """Create a directory; if the block raises, those that were created and are empty disappear."""
    missing = [each for each in (directory, *directory.parents) if not each.exists()]
    directory.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for each in missing:
            with suppress(OSError):
                each.rmdir()
        raise


@contextmanager
def replacing_file(file: str | Path) -> Iterator[Path]:
    """Yield a path to write to; at the end, move the written file to ``file``.

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
    """Yield paths to write to instead, by the same names; remove incomplete ones."""
    with ExitStack() as files:
        yield {
            name: str(files.enter_context(replacing_file(file)))
            for name, file in (named or {}).items()
        }


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Name the file in the error of a full disk; the system names none."""
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


def replace_file(file: str, data: bytes | memoryview) -> None:
    """Put data into a file, which is as it was if that fails.

    Raises:
        OSError: If it cannot be written; the error names ``file``.
    """
    # Thousands of files are written one by one, and pathlib takes longer than the system.
    directory, name = os.path.split(file)
    partial = f"{directory}/.{name}.partial-{os.getpid()}"
    try:
        with open(partial, "wb", buffering=0) as written:  # noqa: PTH123
            # The system may take a part of it only: then it says why of the rest.
            left = memoryview(data)
            while left:
                left = left[written.write(left) :]
        os.replace(partial, file)  # noqa: PTH105
    except BaseException as error:
        Path(partial).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror, file) from error
        raise


def _partial(file: Path) -> Path:
    return file.with_name(f".{file.name}.partial-{os.getpid()}")


@contextmanager
def replacing(directory: str | Path, *, whole: bool = False) -> Iterator[Path]:
    """Yield an empty directory to write into; at the end, move its contents into ``directory``.

    Files of the same name are replaced, others kept. If the block raises (or is interrupted),
    ``directory`` is unchanged. The error of a full disk names ``directory``.

    With ``whole``, what is written is all that there is: files that were there from the last time
    are removed, unless somebody has changed them since. :data:`WRITTEN` says which they are.
    """
    directory = Path(directory)
    directory.parent.mkdir(parents=True, exist_ok=True)
    if directory.exists() and not directory.is_dir():
        raise NotADirectoryError(f"{directory} is a file: give a directory")
    partial = Path(tempfile.mkdtemp(prefix=f".{directory.name}.partial-", dir=directory.parent))
    try:
        with _naming(directory):
            yield partial
            stale = _list_written(partial, directory) if whole else {}
        directory.mkdir(exist_ok=True)
        for written in sorted(partial.rglob("*")):
            target = directory / written.relative_to(partial)
            if written.is_dir():
                target.mkdir(exist_ok=True)
            else:
                written.replace(target)
        for name, stamp in stale.items():
            _remove_unchanged(directory, name, stamp)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _list_written(partial: Path, directory: Path) -> dict[str, list[int]]:
    """List in ``partial`` its contents; return entries that only the list of ``directory`` has."""
    stamps = {
        file.relative_to(partial).as_posix(): _stamp(file)
        for file in sorted(partial.rglob("*"))
        if file.is_file()
    }
    (partial / WRITTEN).write_text(json.dumps(stamps, indent=1) + "\n", encoding="utf-8")
    before = listed_files(directory)
    return {name: stamp for name, stamp in before.items() if name not in stamps}


def _stamp(file: Path) -> list[int]:
    """Return the size of a file, and when it was modified."""
    about = file.stat()
    return [about.st_size, about.st_mtime_ns]


def listed_files(directory: Path) -> dict[str, list[int]]:
    """Return the files of the last complete output, by path, with their stamps."""
    try:
        found = json.loads((directory / WRITTEN).read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remove_unchanged(directory: Path, name: str, stamp: list[int]) -> None:
    """Remove a file if it is as it was written, and the directories that it leaves empty."""
    file = directory / name
    # It is somebody else's who leads out of the directory.
    if not file.resolve().is_relative_to(directory.resolve()) or not file.is_file():
        return
    if _stamp(file) != stamp:
        return
    file.unlink()
    for parent in file.parents:
        if parent == directory or any(parent.iterdir()):
            return
        parent.rmdir()
