"""Errors of papers and of their ledgers."""

from __future__ import annotations

from skywave._errors import SkywaveError


class PaperError(SkywaveError):
    """A paper is not available. The message is one line that says what to do."""


class UnknownPaperError(PaperError):
    """No installed distribution has a paper with this key."""


class BrokenPaperError(PaperError):
    """A distribution declares a paper that is unusable."""


class LedgerError(SkywaveError, ValueError):
    """A ledger or the measurements for it are wrong. The message names the place and the remedy."""
