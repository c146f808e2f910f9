"""Losses, delays and other treatment of packets on the path between the two ends.

netem and tbf run in the guest, whose kernel has them where the host's may not. With a TAP device,
they treat both directions of the guest's interface: what leaves it directly, what enters it through
an ifb device. The capture is outside of this, so it holds all that we send, and of what the guest
sends all that survives.
"""

from __future__ import annotations

from dataclasses import dataclass

SEGMENT_BYTES = 1500


@dataclass(frozen=True)
class Path:
    """A path, the same in both directions."""

    delay_ms: int = 0
    loss_percent: float = 0.0
    reorder_percent: float = 0.0
    """Share of packets that overtake: these skip the delay."""
    rate_kbps: int = 0
    queue_packets: int = 0
    """Room of the queue before the rate limit."""

    @property
    def loses(self) -> bool:
        """Whether packets are lost on it."""
        return bool(self.loss_percent or self.rate_kbps)

    @property
    def reorders(self) -> bool:
        """Whether packets overtake each other on it."""
        return bool(self.reorder_percent)

    def script(self) -> str:
        """Return the shell script that sets it up in a guest, in place of what was there."""
        lines = [
            "tc qdisc del dev eth0 ingress 2>/dev/null",
            "tc qdisc del dev ifb0 root 2>/dev/null",
            "set -e",
            *self.egress("eth0"),
        ]
        if self != Path():
            redirect = "protocol all matchall action mirred egress redirect dev ifb0"
            lines += [
                *self._stages("ifb0"),
                "tc qdisc add dev eth0 ingress",
                f"tc filter add dev eth0 parent ffff: {redirect}",
            ]
        return "; ".join(lines)

    def egress(self, device: str) -> list[str]:
        """Return what sets it up for packets that leave a device, in place of what was there."""
        return [
            f"tc qdisc replace dev {device} root handle 9: pfifo limit 1000",
            *([] if self == Path() else self._stages(device)),
        ]

    def _stages(self, device: str) -> list[str]:
        """Delay, loss and reordering first, the rate and its queue below.

        netem's own rate would count the packets in flight as queued.
        """
        netem = [
            *(["delay", f"{self.delay_ms}ms"] if self.delay_ms else []),
            *(["loss", f"{self.loss_percent}%"] if self.loss_percent else []),
            *(["reorder", f"{self.reorder_percent}%"] if self.reorder_percent else []),
        ]
        stages = [
            f"tc qdisc replace dev {device} root handle 1: netem limit 10000 {' '.join(netem)}"
        ]
        if self.rate_kbps:
            bucket = f"rate {self.rate_kbps}kbit burst {2 * SEGMENT_BYTES} limit 10000000"
            stages += [
                f"tc qdisc add dev {device} parent 1:1 handle 2: tbf {bucket}",
                f"tc qdisc add dev {device} parent 2:1 handle 3: pfifo limit {self.queue_packets}",
            ]
        return stages


PATHS = {
    "clean": Path(),
    "delay": Path(delay_ms=50),
    "loss": Path(delay_ms=10, loss_percent=3.0),
    "reordering": Path(delay_ms=20, reorder_percent=10.0),
    "rate limit": Path(delay_ms=10, rate_kbps=512, queue_packets=10),
}
"""The paths of the matrix, by name."""
