"""What a program that uses sockets does when it ends."""

from __future__ import annotations

import subprocess
import sys

from patience import PATIENCE_S

# Waits that end and are cancelled while the interpreter does: their results come from other
# threads, which must not enter it any more.
BUSY = """
import asyncio

from skywave.net import aio


async def accept(listener):
    while True:
        try:
            await asyncio.wait_for(listener.accept(), 0.01)
        except TimeoutError:
            pass


async def main():
    endpoint = aio.Endpoint.udp("127.0.0.1", 0)
    tasks = [asyncio.create_task(accept(endpoint.listen(5001 + n))) for n in range(9)]
    await asyncio.sleep(0.2)
    await endpoint.close()
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


asyncio.run(main())
"""

# Before the threads were kept out, one program of six died.
PROGRAMS = 24


def test_a_program_ends_while_its_sockets_are_busy() -> None:
    programs = [
        subprocess.Popen([sys.executable, "-c", BUSY], stderr=subprocess.PIPE, text=True)
        for _ in range(PROGRAMS)
    ]
    ends = []
    for program in programs:
        _, errors = program.communicate(timeout=PATIENCE_S)
        ends.append((program.returncode, errors))
    assert ends == [(0, "")] * PROGRAMS
