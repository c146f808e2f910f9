"""Errors for missing extras of the package."""

from __future__ import annotations


def needs(what: str, extra: str) -> str:
    """Return a sentence that says what needs an extra, and how to install it."""
    return (
        f"{what} needs the extra skywave[{extra}]: install a wheel with it, as in "
        f'pip install "$(echo dist/skywave-*.whl)[{extra}]" (docs/start.md)'
    )
