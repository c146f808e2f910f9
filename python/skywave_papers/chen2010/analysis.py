"""Section 3 of Chen, Yang and Hong: equations 1 to 9, and the stability of the fluid model.

Times are in s, rates in bit/s, the packet size ``s`` in bits, windows in packets. The paper adds
windows in packets to products of a capacity in bit/s and a time. Here, each such window is
multiplied by ``s``, or the product is divided by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import lambertw

from skywave_papers.chen2010.delayed import Solution, solve_delayed
from skywave_papers.chen2010.setting import BETA, T_RHO_S

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Values = Floats | np.float64
    """Values of one model, or of many."""

STABLE_UP_TO_H = 0.5
"""The bound on h by the paper and by Xia et al., sufficient for stability with one RTT."""


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

    def gain(self, load: float) -> float:
        """Return F(rho) = h (1 - rho) / rho, the relative growth per round-trip time."""
        return self.h * (1 - load) / load

    def sum_growth(self, windows: float, load: float) -> float:
        """Return the growth of the sum of all windows, in packets per s (equation 4).

        For one flow it is equation 3, whose first printed form divides by R, the second by R',
        which is the intended one.
        """
        return (self.gain(load) * windows + self.flows * self.alpha) / self.control_rtt_s

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
    def load_at_rest(self) -> float:
        """The load factor at equilibrium; above 1, since every flow always adds alpha."""
        return self.sum_at_rest / self.pipe_packets

    @property
    def rate_at_rest_bps(self) -> float:
        """Equation 9 with correct units: the rate of one flow at equilibrium.

        The last term is alpha s / (h R). N times this rate exceeds C if the pipe is short compared
        with N alpha / h packets. The equilibrium is then out of reach: a queue or losses limit the
        rate first.
        """
        return self._shared_bps + self.alpha * self.packet_bits / (self.h * self.rtt_s)

    @property
    def rate_at_rest_as_printed(self) -> float:
        """Equation 9 as printed: its last term, in packets per s, is added to bits per s."""
        return self._shared_bps + self.alpha / (self.h * self.rtt_s)

    @property
    def _shared_bps(self) -> float:
        """The first two terms of equation 9."""
        share = self.target / self.flows
        late = (self.ack_ratio - 1) * self.packet_bits / (2 * self.rtt_s)
        return share * (self.capacity_bps + late)

    def increase_outweighs_from_s(self, packets_per_increase: float = 1.0) -> float:
        """Return the R from which on an additive increase outweighs the decrease before it, in s.

        Equation A5 takes (1 - beta) w of a window w, which for a full link is C R / (N s) packets.
        In the one R that follows, equation A4 adds alpha (R / t_rho)^2 packets whatever the load,
        if it is applied once for each acknowledged packet, and less by ``packets_per_increase`` if
        once for so many. R includes the queue, so once it is beyond this value the queue grows on.
        """
        lost_per_s = (1 - BETA) * self.capacity_bps / (self.flows * self.packet_bits)
        return packets_per_increase * lost_per_s * T_RHO_S**2 / self.alpha

    def solve(self, begin: float, duration_s: float, delay_s: float | None = None) -> Solution:
        """Solve equation 6 for a sum of windows that is ``begin`` packets up to time 0.

        ``delay_s`` is the age of the load when a sender learns it. Default: R'.
        """
        return solve_delayed(
            self.sum_growth_delayed,
            begin,
            self.control_rtt_s if delay_s is None else delay_s,
            duration_s,
        )

    def abscissa(self, delay_s: float | None = None) -> float:
        """Return the real part of the rightmost root of equation 6 at equilibrium, in 1/s.

        A small deviation x from w* obeys R' x'(t) = -h (1 - phi) x(t) - h phi x(t - delay), with
        phi = 1 / rho*. The equilibrium is stable if the result is negative.
        """
        delay = self.control_rtt_s if delay_s is None else delay_s
        found = _abscissa(
            np.float64(self.h),
            np.float64(self.pipe_packets / (self.flows * self.alpha)),
            np.float64(self.control_rtt_s),
            np.float64(delay),
        )
        return float(found)


def _abscissa(h: Values, pipe: Values, rtt_s: Values, delay_s: Values) -> Values:
    """Return the abscissa of models; ``pipe`` is gamma C R' in units of N alpha.

    The characteristic roots are values of a Lambert function. Its principal branch has the
    rightmost (Shinozaki and Mori 2006).
    """
    phi = pipe / (pipe + 1 / h)
    now, late = h * (1 - phi) / rtt_s, h * phi / rtt_s
    with np.errstate(invalid="ignore"):
        root = lambertw(-late * delay_s * np.exp(now * delay_s)).real / delay_s - now
    abscissa: Values = np.where(delay_s == 0, -now - late, root)
    return abscissa


MOST_H = 64.0
"""Upper end of the search for the stability limit, where cwnd could grow 64-fold per RTT."""
BISECTIONS = 50
"""Bisection steps in log h, enough for the precision of a float."""


def critical_h(model: Model, delay_s: float | None = None) -> float:
    """Return the h from which on the model's equilibrium is unstable; infinity if above ``MOST_H``.

    The model's own h is ignored.
    """
    rtt_s = np.float64(model.control_rtt_s)
    pipe = np.float64(model.pipe_packets / (model.flows * model.alpha))
    return float(_critical_h(pipe, rtt_s, rtt_s if delay_s is None else np.float64(delay_s)))


def _critical_h(pipe: Values, rtt_s: Values, delay_s: Values) -> Values:
    """Bisect for the limit, for all models at once. Arguments are those of ``_abscissa``."""
    # Everything is stable below pi R' / (2 delay), the limit without alpha.
    with np.errstate(divide="ignore"):
        stable = np.log(np.pi / 2 * rtt_s / delay_s) - 1e-9
    most = np.log(MOST_H)
    is_found = (stable < most) & (_abscissa(np.float64(MOST_H), pipe, rtt_s, delay_s) >= 0)
    unstable = np.full_like(pipe, most)
    stable = np.minimum(stable, most)
    for _ in range(BISECTIONS):
        middle = (stable + unstable) / 2
        is_stable = _abscissa(np.exp(middle), pipe, rtt_s, delay_s) < 0
        stable = np.where(is_stable, middle, stable)
        unstable = np.where(is_stable, unstable, middle)
    critical: Values = np.where(is_found, np.exp(unstable), np.inf)
    return critical


def stability_map(
    rtts_s: Floats, flows: NDArray[np.int64], added_delay_s: float = 0.0, model: Model | None = None
) -> Floats:
    """Return the critical h by (N, RTT), where R_p is ``rtts_s`` and there is no queue.

    A sender learns the load with an age of R' + ``added_delay_s``.
    """
    points = [
        replace(model or Model(), propagation_s=float(rtt_s), queuing_s=0.0) for rtt_s in rtts_s
    ]
    alphas = flows[:, np.newaxis] * points[0].alpha
    pipe = np.array([point.pipe_packets for point in points]) / alphas
    rtt_s = np.broadcast_to([point.control_rtt_s for point in points], pipe.shape)
    return np.asarray(_critical_h(pipe, rtt_s, rtt_s + added_delay_s))
