"""Errors for missing extras of the package."""

from __future__ import annotations

from skywave._errors import SkywaveError


class MissingExtraError(SkywaveError, ImportError):
    """An extra of the package is not installed. The message says how to install it."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(
            f"{what} needs the extra skywave[{extra}]: install a wheel with it, as in "
            f'pip install "$(echo dist/skywave-*.whl)[{extra}]" (docs/start.md)'
        )
