"""The interface of a run on the page, simulated or in real time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class Run(Protocol):
    """A run on the page.

    One that cannot be paused, stepped, paced or changed raises
    :class:`~skywave.lab.reading.PageError` when it is asked to.
    """

    text: str
    """Its scenario."""

    @property
    def is_over(self) -> bool:
        """Whether it has ended and will not continue unless it is changed."""

    def play(self) -> None:
        """Go on, if it is paused."""

    def pause(self) -> None:
        """Stay where it is, until played or stepped."""

    def step(self) -> None:
        """Pause, and advance by one sampling interval."""

    def set_pace(self, pace: float | None) -> None:
        """Go on at another pace, in simulated seconds per second; None is as fast as it can."""

    def stop(self) -> None:
        """End the run now. It keeps its measurements."""

    async def change(self, text: str) -> None:
        """Run another scenario up to the present, and continue from there.

        Raises:
            PageError: If the scenario cannot be run; the run continues unchanged.
        """

    async def drive(self) -> None:
        """Run it until it is over, and report that. A later change drives it again."""

    async def tell(self) -> None:
        """Send the state."""

    def results(self) -> Mapping[str, pa.Table]:
        """Return all tables if the run is over, otherwise the samples so far."""

    def capture(self, link: str, file: str) -> None:
        """Write the packets of a link as pcapng.

        Raises:
            ValueError: If there is no such link, or the run cannot be repeated.
        """
