"""udp_prague in a guest on virtual time, behind the link of our Prague's case.

Sender and receiver are the programs as they are, each in a namespace; the link is ours.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from skywave import Progress, _core
from skywave.realtime.link.inside import Program
from skywave.realtime.virtual import kernel
from skywave.realtime.virtual.call import call, shared_folder
from validation.controls.cases import DURATION_S, MBPS, QUEUE, RTT_MS, THRESHOLD
from validation.controls.curves import SAMPLE_S, Curve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

LINK = f"""
rate = "{MBPS} Mbps"
delay = "{RTT_MS / 2:g} ms"
queue = {{ step = {{ packets = {QUEUE}, threshold = {THRESHOLD} }} }}
"""
LOG = "sender.txt"
PACKET = 1400
"""The bytes of a full packet, without the headers of UDP and IP."""
AHEAD = 1.03
"""The window is this many times W, rounded up: ``packet_window`` in prague_cc.cpp."""
SENT, ACKNOWLEDGED = "s", "NORMAL_ACK_r"
"""The kinds of the lines of the sender's log."""
FIELDS = {SENT: 16, ACKNOWLEDGED: 17}
"""How many fields they have."""
NOW, SIZE, WINDOW, RECEIVED = 0, 5, 11, 6
"""Those that are read: microseconds, bytes, and packets. ``RECEIVED`` is of ``ACKNOWLEDGED``."""


def run(tree: Path, progress: Callable[[Progress], None]) -> Curve:
    """Run udp_prague, which was compiled in its tree, and return its curve.

    Raises:
        LaunchError: If there is no kernel, or it cannot be booted.
        GuestError: If the guest failed.
    """
    with shared_folder() as folder:
        call(
            send,
            kernel.find(),
            progress=progress,
            writable=[folder],
            tree=tree.resolve(),
            folder=folder,
        )
        return curve((folder / LOG).read_text(encoding="ascii").splitlines())


def send(progress: Callable[[Progress], None], tree: Path, folder: Path) -> None:
    """Send for the duration of a case, in a guest. The folder gets the sender's log."""
    emulation = _core.Emulation(LINK, str(folder), new_peer=True, seed=0, spin=False)
    receiver = Program(emulation, 1, [str(tree / "udp_prague_receiver"), "-q"])
    time.sleep(1)
    command = f"exec {tree}/udp_prague_sender -c -a $SKYWAVE_PEER -v >{folder / LOG}"
    sender = Program(emulation, 0, ["sh", "-c", command])
    # What the sender has not written when it is ended is of the second that is too much.
    for second in range(1, DURATION_S + 2):
        time.sleep(1)
        progress(Progress("sending", second, DURATION_S + 1))
    sender.stop()
    receiver.stop()
    emulation.stop()


def curve(log: Iterable[str]) -> Curve:
    """Return the course that a sender has logged: W, and what acknowledgements report."""
    sent, acknowledged = [], []
    for line in log:
        kind, _, rest = line.partition(": ")
        fields = rest.split(",")
        if len(fields) != FIELDS.get(kind) or not fields[NOW].isdigit():
            continue  # a head, another line, or one that was cut
        if kind == SENT:
            sent.append([int(fields[column]) for column in (NOW, SIZE, WINDOW)])
        else:
            acknowledged.append([int(fields[column]) for column in (NOW, RECEIVED)])
    sent_us, sizes, windows = np.array(sent).T
    acknowledged_us, received = np.array(acknowledged).T
    ends_us = np.arange(1, round(DURATION_S / SAMPLE_S) + 1) * round(1e6 * SAMPLE_S)
    # Half a packet less is the mean of what is rounded up to a window.
    cwnd = (windows - 0.5) / AHEAD * sizes / PACKET
    bytes_ = np.concatenate([[0], np.cumsum(sizes)])
    reported = np.concatenate([[0], received])[np.searchsorted(acknowledged_us, ends_us)]
    goodput = 8e-6 * np.diff(bytes_[reported], prepend=0) / SAMPLE_S
    return Curve(cwnd[np.searchsorted(sent_us, ends_us) - 1], goodput)
