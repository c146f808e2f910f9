"""Descriptions that the core checks as soon as they are created."""

from __future__ import annotations

from skywave import _core
from skywave.scenario.part import Part


class Checked(Part):
    """Options that are checked when they are created, rather than when they are used."""

    def __attrs_post_init__(self) -> None:
        """Check them.

        Raises:
            ValueError: If one is wrong. The text names it.
        """
        _core.check_config(self)
