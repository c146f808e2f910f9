"""The columns of the matrix: networks that papers contribute."""

from __future__ import annotations

from skywave.papers import installed

PAPERS, BROKEN = installed.every()
"""The usable papers, and by key why others are not usable."""

NETWORKS = {paper.key: paper.network for paper in PAPERS if paper.network is not None}
"""All networks by the key of their paper."""

CALLS = {key: network.call for key, network in NETWORKS.items() if network.call is not None}
"""The calls of the networks that have one, by the key of their paper."""
