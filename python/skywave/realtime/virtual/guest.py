"""Guests: Linux kernels as programs (User Mode Linux), on virtual time.

In a guest, computation takes no virtual time and waiting takes no real time: its clock jumps to
the next timer. (Only reading the clock takes 256 ns.) It needs no privileges. The host's files are
the guest's, read-only, so it has the same Python with everything installed. It has one processor,
and no network but its own.
"""

from __future__ import annotations

import codecs
import ctypes
import fcntl
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TextIO

from skywave._errors import SkywaveError
from skywave.realtime.privileges import LaunchError
from skywave.realtime.virtual import boot

INIT = """\
#!/bin/sh
exec {python} {script}
"""
"""The guest's first program. If it fails, the kernel panics and exits without writing a status."""
SCRIPT = """\
import sys
sys.path[:] = {path}
from pathlib import Path
from skywave.realtime.virtual import boot
boot.main(Path({folder!r}))
"""
"""What it executes: a first line with the path of Python could not have spaces."""
PANIC = "Kernel panic"
"""What the console's last line before a backtrace begins with."""
PR_SET_PDEATHSIG = 1
"""The operation of prctl(2) that asks for a signal when the parent ends."""
OUT_OF_MEMORY = -signal.SIGKILL
"""The status of a program that the guest's kernel has killed."""


class GuestError(SkywaveError, RuntimeError):
    """A guest did not do what it was asked for. The message says what happened."""


class Guest:
    """A guest that runs a program.

    ``folder`` has the files ``console``, ``stdout`` and ``stderr``, and at the end ``status``.
    """

    def __init__(self, kernel: Path, process: subprocess.Popen[bytes], folder: Path) -> None:
        self.kernel = kernel
        self.process = process
        self.folder = folder
        self._streams = [
            _Stream(folder / boot.STDOUT, sys.stdout),
            _Stream(folder / boot.STDERR, sys.stderr),
        ]

    def has_ended(self, wait_s: float) -> bool:
        """Wait for its end, pass on what its program has printed, and return whether it ended."""
        try:
            self.process.wait(wait_s)
        except subprocess.TimeoutExpired:
            return False
        finally:
            for stream in self._streams:
                stream.pass_on()
        return True

    def failure(self) -> SkywaveError:
        """Return what went wrong in a guest that has ended, and should have left something."""
        fault = self.folder / boot.FAULT
        if fault.exists():
            # A full disk has no room for the reason either.
            reason = fault.read_text(encoding="utf-8") or f"no room in {self.folder.parent}"
            return LaunchError(f"the guest failed: {reason}")
        status = self.folder / boot.STATUS
        if status.exists():
            code = int(status.read_text(encoding="ascii"))
            if code == OUT_OF_MEMORY:
                return GuestError("the guest had too little memory: its kernel killed the program")
            return GuestError(f"the program in the guest ended with status {code}")
        console = (self.folder / "console").read_text(encoding="utf-8", errors="replace")
        lines = [line.strip() for line in console.splitlines() if line.strip()]
        panics = [line for line in lines if PANIC in line]
        if self.process.returncode == -signal.SIGKILL and not panics:
            return GuestError("the guest was killed: was this machine out of memory?")
        last = (panics or lines or ["it printed nothing"])[-1]
        if (self.folder / boot.STDOUT).exists():
            return GuestError(f"the guest's kernel crashed: {last}")
        hint = "" if lines else " (is it a kernel that `make virtual-kernel` built?)"
        return LaunchError(f"{self.kernel} did not start a guest: {last}{hint}")


class _Stream:
    """What a program writes to a file while it runs, for a stream of ours."""

    def __init__(self, file: Path, to: TextIO) -> None:
        self._file = file
        self._to = to
        self._at = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def pass_on(self) -> None:
        """Write what is new."""
        if not self._file.exists():
            return
        with self._file.open("rb") as file:
            file.seek(self._at)
            new = file.read()
        if new:
            self._at += len(new)
            self._to.write(self._decoder.decode(new))
            self._to.flush()


@contextmanager
def booted(
    kernel: Path,
    program: Sequence[str],
    folder: Path,
    *,
    memory_mib: int,
    writable: Iterable[str | Path] = (),
) -> Iterator[Guest]:
    """Boot a guest that runs a program from the current directory, and end it after the block.

    Args:
        kernel: The kernel to boot.
        program: The program and its arguments.
        folder: An empty directory, for the guest's files.
        memory_mib: The guest's memory, which is allocated only as it is used.
        writable: Directories that the program may change, besides ``folder``.

    Raises:
        LaunchError: If the kernel cannot be executed.
        FileNotFoundError: If a directory does not exist.
    """
    init = _ordered(program, folder, writable)
    command = [str(kernel), f"mem={memory_mib}M", "root=/dev/root", "rootfstype=hostfs"]
    command += ["rootflags=/", "ro", f'init="{init}"', "time-travel=inf-cpu", "quiet"]
    command += ["con=null", "con0=null,fd:1", f"uml_dir={folder / 'uml'}/"]
    with (folder / "console").open("wb") as console, _processor() as processor:
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=console,
                stderr=subprocess.STDOUT,
                env={**os.environ, "TMPDIR": _directory_of_memory(memory_mib)},
                # Its processes get no Ctrl-C, and can be killed together.
                start_new_session=True,
                preexec_fn=_bound_to(processor),  # noqa: PLW1509  (it only calls the system)
            )
        except OSError as error:
            raise LaunchError(f"{kernel}: {error.strerror}") from error
        try:
            yield Guest(kernel, process, folder)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


@contextmanager
def _processor() -> Iterator[int]:
    """Yield a processor for a guest: one that no other guest of this user has, if there is one."""
    allowed = list(os.sched_getaffinity(0))
    random.shuffle(allowed)
    with ExitStack() as held:
        yield next((each for each in allowed if _took(each, held)), allowed[0])


def _took(processor: int, held: ExitStack) -> bool:
    """Take a processor's lock, until ``held`` is closed, and return whether it was free."""
    folder = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    path = Path(folder) / f"skywave-guest-{os.getuid()}-{processor}.lock"
    # A lock that cannot be opened, since it is somebody else's, is not free.
    with suppress(OSError), ExitStack() as opened:
        lock = os.open(path, os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        opened.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        held.push(opened.pop_all())
        return True
    return False


def _bound_to(processor: int) -> Callable[[], None]:
    """Return what a kernel's process does before it begins.

    It binds itself to the processor: a guest's programs and its kernel are processes that take
    turns, and between processors each turn takes four times as long. It also asks to be killed when
    this process ends.
    """
    library = ctypes.CDLL(None)

    def bind() -> None:
        os.sched_setaffinity(0, {processor})
        library.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    return bind


def _ordered(program: Sequence[str], folder: Path, writable: Iterable[str | Path]) -> Path:
    """Write into the folder what the guest does; return its first program."""
    path = [str(Path(each).absolute()) for each in sys.path]
    directories = {str(Path(each).resolve(strict=True)) for each in writable}
    order = {
        "writable": sorted(directories),
        "directory": str(Path.cwd()),
        "program": list(program),
        "environment": {
            **os.environ,
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": boot.SCRATCH,
            "TMPDIR": boot.SCRATCH,
            "PYTHONPATH": os.pathsep.join(path),
            "PYTHONDONTWRITEBYTECODE": "1",
            # There is one processor.
            "OPENBLAS_NUM_THREADS": "1",
        },
    }
    (folder / boot.ORDER).write_text(json.dumps(order), encoding="utf-8")
    script = folder / "init.py"
    script.write_text(SCRIPT.format(path=path, folder=str(folder)), encoding="utf-8")
    init = folder / "init"
    python, file = shlex.quote(sys.executable), shlex.quote(str(script))
    init.write_text(INIT.format(python=python, script=file), encoding="utf-8")
    init.chmod(0o700)
    return init


def _directory_of_memory(mib: int) -> str:
    """Return a directory for the file that is the guest's memory, which holds code too."""
    given = os.environ.get("TMPDIR")
    # In memory it is never written to a disk.
    candidates = [*([given] if given else []), "/dev/shm", tempfile.gettempdir()]  # noqa: S108
    for directory in candidates:
        if not os.access(directory, os.W_OK):
            continue
        about = os.statvfs(directory)
        free_mib = about.f_bavail * about.f_frsize >> 20
        if free_mib >= mib and not about.f_flag & os.ST_NOEXEC:
            return directory
    raise LaunchError(
        f"the guest's memory is a file of up to {mib} MiB that holds programs, and none of "
        f"{', '.join(candidates)} has room for it and lets programs be executed: set TMPDIR to a "
        "directory that does"
    )
