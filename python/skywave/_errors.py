"""The base of Skywave's errors, and those that belong to no package."""

from __future__ import annotations


class SkywaveError(Exception):
    """Something that Skywave refuses, or could not do. The message is one line that says why.

    Subclasses that correspond to a built-in exception, such as ``ValueError``, derive from it too.
    """


class ScenarioError(SkywaveError, ValueError):
    """A scenario is wrong. The message is one line: ``field: reason``, after the file if any."""


class CaptureError(SkywaveError, ValueError):
    """A capture file is truncated or corrupt. The message contains the byte offset."""


class NoSocketsError(SkywaveError, ImportError):
    """Sockets are missing from this build of Skywave. The message says how to get one that has."""

    def __init__(self) -> None:
        super().__init__(
            "this build of Skywave has no sockets: install a wheel that has them, "
            "or build it with the cargo feature `sockets`"
        )


class MissingExtraError(SkywaveError, ImportError):
    """An extra of the package is not installed. The message says how to install it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the extra skywave[{extra}]: install a wheel with it, as in "
            f'pip install "$(echo dist/skywave-*.whl)[{extra}]" (docs/start.md)'
        )
