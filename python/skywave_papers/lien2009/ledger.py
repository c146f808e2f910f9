"""The paper's ledger, ``paper.toml``."""

from __future__ import annotations

from pathlib import Path

from skywave.papers.ledger import Ledger

LEDGER = Ledger.read(Path(__file__).with_name("paper.toml"))
