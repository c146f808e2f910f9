"""Sources of datagrams whose size follows the path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Protocol


class Source(Protocol):
    """Datagrams to send, of one size except for the last ones."""

    may_repeat: ClassVar[bool]
    """Whether a receiver can tell what arrives a second time."""

    def __iter__(self) -> Iterator[bytes]:
        """Yield the datagrams that have not been yielded, or have been taken back."""

    def take_back(self, datagrams: Sequence[bytes], size: int) -> None:
        """Take back the last datagrams, and yield their data again, at most ``size`` bytes each.

        Raises:
            ValueError: If that leaves no room for data.
        """
