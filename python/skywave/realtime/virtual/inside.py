"""What happens inside a guest: ``python -m skywave.realtime.virtual.inside FOLDER``.

The folder has what the host asks for (``call``), and gets what came of it: ``outcome``, and
``progress`` until then. A file ``stop`` interrupts the call.
"""

from __future__ import annotations

import pickle
import sys
import traceback
from pathlib import Path
from typing import TypeAlias

from skywave._progress import Progress

Outcome: TypeAlias = tuple[object, BaseException | None]

CALL = "call"
"""The file of the pickled function and its arguments by name."""
OUTCOME = "outcome"
"""The file of the pickled pair of what it returned, and what it raised."""
PROGRESS = "progress"
"""The file with a line for each progress: stage, done and total between tabs."""
STOP = "stop"
"""The file whose appearance interrupts the call."""


def main(folder: Path) -> None:
    """Make the call of a folder, and leave its outcome there."""
    stop = folder / STOP
    with (folder / PROGRESS).open("a", encoding="utf-8", buffering=1) as lines:

        def tell(step: Progress) -> None:
            lines.write(f"{step.stage}\t{step.done}\t{step.total}\n")
            if stop.exists():
                raise KeyboardInterrupt

        outcome: Outcome
        try:
            function, arguments = pickle.loads((folder / CALL).read_bytes())  # noqa: S301  (ours)
            outcome = (function(progress=tell, **arguments), None)
        except BaseException as error:  # noqa: BLE001  (the host raises it)
            # What has notes is a user's, who needs to see where it was raised.
            if getattr(error, "__notes__", []):
                error.add_note(f"in the guest:\n{traceback.format_exc()}")
            outcome = (None, error)
    partial = folder / f"{OUTCOME}.partial"
    partial.write_bytes(pickled(outcome))
    partial.rename(folder / OUTCOME)


def pickled(outcome: Outcome) -> bytes:
    """Return an outcome as bytes. What cannot be pickled becomes a ``RuntimeError``."""
    try:
        text = pickle.dumps(outcome)
        pickle.loads(text)  # noqa: S301  (ours)
    except Exception as why:  # noqa: BLE001  (whatever its class does)
        error = outcome[1] or why
        return pickle.dumps((None, RuntimeError(f"{type(error).__name__}: {error}")))
    return text


if __name__ == "__main__":
    main(Path(sys.argv[1]))
