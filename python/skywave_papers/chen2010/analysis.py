"""Section 3 of Chen, Yang and Hong: equations 1 to 9, and the stability of the fluid model.

Times are in s, rates in bit/s, the packet size ``s`` in bits, windows in packets. The paper adds
windows in packets to products of a capacity in bit/s and a time. Here, each such window is
multiplied by ``s``, or the product is divided by it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from skywave_papers.chen2010.setting import BETA, T_RHO_S

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

STABLE_UP_TO_H = 0.5
"""The bound on h by the paper and by Xia et al., sufficient for stability with one RTT."""
RELATIVE_ERROR = 1e-9
"""That of solutions of equation 6."""


@dataclass(frozen=True)
class Model:
    """The bottleneck of section 3 and its N equal flows. Defaults are those of section 4.

    Attributes:
        capacity_bps: C.
        packet_bits: s.
        flows: N.
        propagation_s: R_p, the round-trip propagation time.
        queuing_s: R_q.
        ack_ratio: zeta.
        target: gamma.
        h: the stability coefficient.
        alpha: packets that AI adds in a round-trip time.

    """

    capacity_bps: float = 45e6
    packet_bits: float = 1024 * 8
    flows: int = 200
    propagation_s: float = 0.06
    queuing_s: float = 0.02
    ack_ratio: float = 2.0
    target: float = 0.98
    h: float = 0.25
    alpha: float = 1.0

    @property
    def ack_delay_s(self) -> float:
        """Equation 1: T_avg, the mean wait of an acknowledgement for the last of zeta packets.

        It assumes that the zeta packets of a flow arrive back to back. Among N flows their spacing
        is N times as long.
        """
        return (self.ack_ratio - 1) * self.packet_bits / (2 * self.capacity_bps)

    @property
    def rtt_s(self) -> float:
        """R of equation 9: R_p + R_q + s / C."""
        return self.propagation_s + self.queuing_s + self.packet_bits / self.capacity_bps

    @property
    def control_rtt_s(self) -> float:
        """Equation 2: R', the time from a packet until its acknowledgement changes cwnd."""
        return self.rtt_s + self.ack_delay_s

    def sum_growth(self, windows: float, load: float) -> float:
        """Return the growth of the sum of all windows, in packets per s (equation 4).

        It is relative to the windows by F(rho) = h (1 - rho) / rho in R'. For one flow it is
        equation 3, whose first printed form divides by R, the second by R', the intended one.
        """
        gain = self.h * (1 - load) / load
        return (gain * windows + self.flows * self.alpha) / self.control_rtt_s

    def load(self, windows: float) -> float:
        """Return the load factor rho that results from a sum of windows (equation 5)."""
        rate_bps = windows * self.packet_bits / self.control_rtt_s
        return rate_bps / (self.target * self.capacity_bps)

    def sum_growth_delayed(self, windows: float, earlier: float) -> float:
        """Return the growth of the sum of windows, in packets per s (equation 6).

        ``earlier`` is the sum of windows when the load was measured. The paper calls equation 6
        delayed, but prints w(t) there as well.
        """
        return self.sum_growth(windows, self.load(earlier))

    @property
    def pipe_packets(self) -> float:
        """Packets that fill gamma of the capacity for a control round trip: gamma C R' / s."""
        return self.target * self.capacity_bps * self.control_rtt_s / self.packet_bits

    @property
    def sum_at_rest(self) -> float:
        """Equation 7: w*, the sum of windows at equilibrium, in packets."""
        return self.pipe_packets + self.flows * self.alpha / self.h

    @property
    def window_at_rest(self) -> float:
        """Equation 8: one flow's window at equilibrium, in packets."""
        return self.pipe_packets / self.flows + self.alpha / self.h

    @property
    def rate_at_rest_as_printed(self) -> float:
        """Equation 9 as printed: its last term, in packets per s, is added to bits per s."""
        share = self.target / self.flows
        late = (self.ack_ratio - 1) * self.packet_bits / (2 * self.rtt_s)
        return share * (self.capacity_bps + late) + self.alpha / (self.h * self.rtt_s)

    @property
    def rate_at_rest_bps(self) -> float:
        """Equation 9 with correct units: the rate of one flow at equilibrium.

        The last term is alpha s / (h R). N times this rate exceeds C if the pipe is short compared
        with N alpha / h packets. The equilibrium is then out of reach: a queue or losses limit the
        rate first.
        """
        last_term = self.alpha / (self.h * self.rtt_s)
        return self.rate_at_rest_as_printed + (self.packet_bits - 1) * last_term

    def increase_outweighs_from_s(self, packets_per_increase: float = 1.0) -> float:
        """Return the R from which on an additive increase outweighs the decrease before it, in s.

        Equation A5 takes (1 - beta) w of a window w, which for a full link is C R / (N s) packets.
        In the one R that follows, equation A4 adds alpha (R / t_rho)^2 packets whatever the load,
        if it is applied once for each acknowledged packet, and less by ``packets_per_increase`` if
        once for so many. R includes the queue, so once it is beyond this value the queue grows on.
        """
        lost_per_s = (1 - BETA) * self.capacity_bps / (self.flows * self.packet_bits)
        return packets_per_increase * lost_per_s * T_RHO_S**2 / self.alpha

    def solve(self, begin: float, times_s: Floats, delay_s: float | None = None) -> Floats:
        """Solve equation 6 for a sum of windows that is ``begin`` packets up to time 0.

        ``delay_s`` is the age of the load when a sender learns it. Default: R'.
        """
        delay_s = self.control_rtt_s if delay_s is None else delay_s
        return solve_delayed(self.sum_growth_delayed, begin, delay_s, times_s)

    def critical_h(self, delay_s: float | None = None) -> float:
        """Return the h from which on the equilibrium of equation 6 is unstable, whatever ``h`` is.

        A small deviation x obeys R' x'(t) = -h (1 - phi) x(t) - h phi x(t - delay), phi = 1 / rho*.
        At the border it oscillates, by an angle y in one delay. The real part is 0 if cos y =
        -N alpha / (h P), with the pipe P = gamma C R' / s; the imaginary one if y R' = delay h phi
        sin y. Without h, this is P / (N alpha) R' / delay y cos y + cot(y / 2) = 0.
        """
        delay_s = self.control_rtt_s if delay_s is None else delay_s
        if delay_s == 0:
            return math.inf
        pipe = self.pipe_packets / (self.flows * self.alpha)
        slope = pipe * self.control_rtt_s / delay_s
        ends = math.pi / 2, math.pi
        angle = brentq(lambda y: slope * y * math.cos(y) + 1 / math.tan(y / 2), *ends, xtol=1e-15)
        return -1 / (pipe * math.cos(angle))


def stability_map(rtts_s: Floats, flows: NDArray[np.int64], added_delay_s: float = 0.0) -> Floats:
    """Return the critical h by (N, RTT), where R_p is ``rtts_s`` and there is no queue.

    A sender learns the load with an age of R' + ``added_delay_s``.
    """
    alone = [Model(propagation_s=float(rtt_s), queuing_s=0.0) for rtt_s in rtts_s]
    models = [[replace(one, flows=int(count)) for one in alone] for count in flows]
    return np.array(
        [[one.critical_h(one.control_rtt_s + added_delay_s) for one in row] for row in models]
    )


def solve_delayed(
    slope: Callable[[float, float], float], past: float, delay_s: float, times_s: Floats
) -> Floats:
    """Solve x'(t) = slope(x(t), x(t - delay)), with x = ``past`` up to time 0, at ascending times.

    Within one delay the past is known, so the equation is an ordinary one; the dense output of its
    solution is the past of the next step (method of steps).
    """
    step_s = delay_s or float(times_s[-1])
    pieces: list[Callable[[float], Floats]] = [lambda _: np.array([past])]
    for number in range(math.ceil(times_s[-1] / step_s)):
        solved = solve_ivp(
            lambda at_s, x, earlier: [slope(x[0], earlier(at_s - delay_s)[0] if delay_s else x[0])],
            (number * step_s, (number + 1) * step_s),
            pieces[-1](number * step_s),
            method="DOP853",
            rtol=RELATIVE_ERROR,
            atol=RELATIVE_ERROR * max(abs(past), 1.0),
            dense_output=True,
            args=(pieces[-1],),
        )
        pieces.append(solved.sol)
    last = len(pieces) - 1
    return np.array([pieces[min(int(at_s / step_s) + 1, last)](at_s)[0] for at_s in times_s])
