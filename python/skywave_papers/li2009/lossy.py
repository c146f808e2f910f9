"""Figure 4: duration of a transfer over a bottleneck that loses packets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.compute as pc

from skywave.stats import average
from skywave_papers.li2009.setting import FILE_B, limit_s

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from skywave.results import Results
    from skywave_papers.li2009.setting import Carrier


@dataclass(frozen=True)
class Transfer:
    """One transfer. If it does not finish before its limit, ``seconds`` is the limit."""

    seconds: float
    is_done: bool
    timeouts: int


@dataclass(frozen=True)
class TransferTimes:
    """A carrier's transfers at one loss rate."""

    seconds: Sequence[float]
    """The duration of each transfer."""
    undone: int
    timeouts: float
    """Mean number of retransmission timeouts."""

    @property
    def mean_s(self) -> float:
        """Mean duration."""
        return average(self.seconds).value

    @property
    def margin_s(self) -> float:
        """Half of the confidence interval (Student's t, 95 %), in seconds."""
        return average(self.seconds).margin


def transfer(results: Results, carrier: Carrier, percent: int) -> Transfer:
    """Return the transfer of one of our runs."""
    flows = results.flows
    arrived = np.cumsum(flows["delivered_bytes"].to_numpy().astype(np.int64))
    done = np.searchsorted(arrived, FILE_B)
    (flow,) = results.totals["flows"]
    if done == arrived.size:
        return Transfer(float(limit_s(carrier, percent)), is_done=False, timeouts=flow["timeouts"])
    return Transfer(float(flows["time_s"][int(done)].as_py()), True, flow["timeouts"])


def times(transfers: Sequence[Transfer]) -> TransferTimes:
    """Combine transfers with several seeds."""
    return TransferTimes(
        [one.seconds for one in transfers],
        undone=sum(not one.is_done for one in transfers),
        timeouts=float(np.mean([one.timeouts for one in transfers])),
    )


def vcp_share(packets: pa.Table) -> float:
    """Return the share of DPCP's segments sent in VCP's mode, from headers alone.

    In a chain every other segment has seq > ack; in VCP's mode all have. NaN if none was sent.
    """
    data = packets.filter((pc.field("event") == "send") & (pc.field("kind") == "TCP data"))
    if not data.num_rows:
        return float("nan")
    first = pc.sum(pc.greater(data["seq"], data["ack"])).as_py() / data.num_rows
    return max(0.0, 2 * float(first) - 1)
