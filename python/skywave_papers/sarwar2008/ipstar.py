"""The satellite link IPSTAR, with the figures that the paper publishes of it."""

from __future__ import annotations

from dataclasses import dataclass

from skywave.scenario import Back, Bernoulli, DropTail, Link, LossModel, Scenario, dumbbell


@dataclass(frozen=True)
class Emulation:
    """A link with the published figures of a real one, which it only approximates.

    ``source`` says where each figure comes from, and which are assumed.
    """

    name: str
    rate: str
    delay: str
    queue: DropTail
    loss: LossModel
    back: Back
    source: str

    def link(self, from_: str, to: str) -> Link:
        """Return a link with these figures; its forward direction is the downlink."""
        return Link(
            from_=from_,
            to=to,
            rate=self.rate,
            delay=self.delay,
            queue=self.queue,
            loss=self.loss,
            back=self.back,
        )

    def dumbbell(self, name: str, *, duration: str, pairs: int = 1) -> Scenario:
        """Return a dumbbell scenario with the downlink as its bottleneck ``r1->r2``."""
        return dumbbell(
            name,
            duration=duration,
            pairs=pairs,
            rate=self.rate,
            delay=self.delay,
            queue=self.queue,
            loss=self.loss,
            back=self.back,
        )


IPSTAR = Emulation(
    name="ipstar",
    rate="1 Mbps",
    delay="598 ms",
    queue=DropTail(packets=50),
    loss=Bernoulli(probability=0.0033),
    back=Back(rate="256 kbps"),
    source=(
        "Sarwar et al. 2008: mean round-trip time about 1200 ms (598 ms each way and 1 ms at each "
        "end), packet error rate 0.24 to 0.42 % (their middle; packets of 1000 B), 1 Mbps in their "
        "simulation. Assumed, since not published: an uplink of 256 kbps, a queue of 50 packets. "
        "The delays of the shared access, which vary with its load, are not modelled."
    ),
)
"""The geostationary satellite link IPSTAR, as published."""
