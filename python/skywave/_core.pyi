"""The Rust core: the scenario's schema, the simulator and the codecs."""

from collections.abc import Callable, Sequence
from typing import TypedDict

import pyarrow as pa

class ScenarioError(ValueError):
    """A scenario is wrong; the text is one line, ``field: reason``."""

class CaptureError(ValueError):
    """A capture file is cut short or corrupted; the text holds the byte offset."""

class Frame(TypedDict):
    """One decoded frame of a capture."""

    time_s: float
    text: str
    protocol: str
    bytes: int

class Run:
    """What one run measured."""

    @property
    def summary(self) -> str:
        """Totals, as JSON."""
    @property
    def tables(self) -> dict[str, pa.RecordBatch]:
        """One record batch a probe kind."""
    @property
    def fingerprint(self) -> str:
        """Hash of the event stream, 16 hexadecimal digits."""
    @property
    def violations(self) -> list[str]:
        """What the physics verifier found; empty where it was not asked."""

def check_scenario(text: str, format: str) -> str:  # noqa: A002
    """Validate a scenario, "toml" or "json", and return its normalised JSON."""

def run(
    scenario: str,
    *,
    progress: Callable[[float], None] | None = None,
    captures: dict[str, str] | None = None,
    verify_physics: bool = False,
) -> Run:
    """Run a scenario given as JSON."""

def run_many(
    scenarios: Sequence[str], *, progress: Callable[[int, int], None] | None = None
) -> list[Run]:
    """Run scenarios on all cores; the results are in order."""

def bench(
    *,
    flows: int,
    rate: str,
    buffer: int,
    duration: str,
    access: str,
    progress: Callable[[float], None] | None = None,
) -> str:
    """Run the benchmark dumbbell on one core and return its counts and plain numbers, as JSON."""

def decode_capture(data: bytes) -> list[Frame]:
    """Decode the frames of a pcapng file."""
