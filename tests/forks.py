"""Forks of the process that runs the tests."""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from typing import TYPE_CHECKING

from patience import PATIENCE_S

if TYPE_CHECKING:
    from collections.abc import Callable


def in_a_fork(work: Callable[[], None]) -> None:
    """Run ``work`` in a fork, and assert that it succeeds. An alarm ends it if it hangs."""
    with warnings.catch_warnings():
        # That there are threads is the point.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE_S)
        status = 1
        try:
            work()
            status = 0
        except BaseException:  # noqa: BLE001  (a child must not go on with its parent's tests)
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
