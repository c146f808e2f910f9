"""Sends a file over a loopback interface whose MTU shrinks, in a network namespace of its own."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
import threading
from typing import Any

from skywave.cli.net.exchange import Ending, Exchange
from skywave.cli.net.send import judge
from skywave.net import Config, Endpoint
from skywave.net.file import Assembly, Parts
from skywave.net.load import Load

PATIENCE_S = 30.0
PORT = 5001
SIZE = 3_000_000
SHRINKS_AFTER = 500
"""How many datagrams arrive before."""
QUEUED_BEFORE = 600
"""How many datagrams are queued before; more than a send queue holds are queued afterwards."""


def set_mtu(mtu: int) -> None:
    """Set the MTU of the loopback interface."""
    subprocess.run(["ip", "link", "set", "lo", "mtu", str(mtu), "up"], check=True)


def main(has_fixed_size: bool) -> dict[str, Any]:
    """Send the file; return the reports of both ends, and whether the file is whole."""
    set_mtu(1500)
    content = random.Random(1).randbytes(SIZE)  # noqa: S311  (nothing is secret)
    sink = io.BytesIO()
    has_shrunk = threading.Event()

    def shrink(arrived: int, _: int) -> None:
        if arrived >= SHRINKS_AFTER and not has_shrunk.is_set():
            set_mtu(900)
            has_shrunk.set()

    def wait(queued: int, _: int) -> None:
        if queued >= QUEUED_BEFORE:
            assert has_shrunk.wait(PATIENCE_S)

    with Endpoint.udp("127.0.0.1", 0) as here, Endpoint.udp("127.0.0.1", 0) as there:
        listener = there.listen(PORT, config=Config(receive_queue=100_000))
        udp_port = there.local_address[1]
        connection = here.connect("127.0.0.1", PORT, udp_port=udp_port)
        receiver = Exchange(
            listener.accept(timeout_s=PATIENCE_S),
            Load(1),
            Ending.AWAIT,
            PATIENCE_S,
            count=0,
            assembly=Assembly(sink),
            show=shrink,
        )
        received: dict[str, Any] = {}
        receiving = threading.Thread(target=lambda: received.update(receiver.run()))
        receiving.start()
        source = Parts(io.BytesIO(content), 1200)
        sender = Exchange(
            connection,
            source,
            Ending.FIRST,
            PATIENCE_S,
            has_fixed_size=has_fixed_size,
            show=wait,
        )
        sent = sender.run()
        is_complete = sender.has_sent_all and source.is_complete
        judge(sent, is_complete=is_complete, repeated=sender.repeated)
        receiving.join()
    return {"sent": sent, "received": received, "same": sink.getvalue() == content}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main("fixed" in sys.argv)))
