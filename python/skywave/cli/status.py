"""The exit statuses of the commands. Each has one meaning."""

from __future__ import annotations

FAILED = 1
NOT_DONE = 2
NOT_MET = 3
INTERRUPTED = 130
READER_GONE = 141
TERMINATED = 143

NETWORK_FAILED = "the network or the peer failed"
ALL = (
    "Exit status: 0 success; 1 the command did its work, and the result is a failure; 2 wrong "
    "input or a missing requirement, and nothing was done; 3 a requested check (--strict) is not "
    "met; 130 Ctrl-C; 143 SIGTERM; 141 the reader of the output has gone."
)
"""The statuses of all commands, for the help of ``skywave``."""


def of_command(fails: str | None, *, strict: bool) -> str:
    """Return the statuses of a command for its help; ``fails`` says what status 1 means."""
    meanings = [
        "0 success",
        *([] if fails is None else [f"1 {fails}"]),
        "2 wrong input or a missing requirement",
        *(["3 --strict is not met"] if strict else []),
        "130 Ctrl-C",
        "143 SIGTERM",
        "141 the reader of the output has gone",
    ]
    return f"Exit status: {'; '.join(meanings)}."
