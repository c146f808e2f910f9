"""The request that the launching process sends to the one in the namespaces."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Self


@dataclass(frozen=True)
class Request:
    """A link, and the programs at its ends."""

    link: str
    """The description of the link, in TOML."""
    directory: str
    """The folder to which files that the link names are relative."""
    command: tuple[str, ...]
    """The program at the near end, with its arguments."""
    peer: tuple[str, ...] | None
    """The program at the far end. Without one, the far end is this machine."""
    seed: int
    spin: bool
    """Whether the emulator takes a processor to be more exact."""
    strict_ms: float | None
    """The 99th percentile of lateness, in milliseconds, beyond which the emulation has failed."""
    interval_s: float | None
    """How often to print a line; None for never."""
    capture: str | None
    """The pcapng file of what arrives at either end."""
    as_json: bool
    """Whether to print the report as JSON on stdout, and what the programs print on stderr."""

    def to_json(self) -> str:
        """Return it as text."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the request that :meth:`to_json` has written."""
        fields = json.loads(text)
        fields["command"] = tuple(fields["command"])
        if fields["peer"] is not None:
            fields["peer"] = tuple(fields["peer"])
        return cls(**fields)
