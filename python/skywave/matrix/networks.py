"""The columns of the matrix: the networks that papers lend."""

from __future__ import annotations

from skywave.papers import installed

PAPERS, BROKEN = installed.every()
"""The papers that lend, and why others cannot."""

NETWORKS = {paper.key: paper.network for paper in PAPERS if paper.network is not None}
"""All networks by the key of their paper."""

CALLS = {key: network.call for key, network in NETWORKS.items() if network.call is not None}
"""The calls of those networks that have one."""
