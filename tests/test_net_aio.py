"""What asyncio offers is what the blocking API offers."""

from __future__ import annotations

import asyncio

from skywave import net
from skywave.net import Config, EndpointConfig, aio

PORT = 5001

BLOCKING_ONLY = {
    # Waiting without a thread is asyncio's own business.
    "try_recv",
    "try_accept",
}


def names(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")}


def test_every_name_of_the_blocking_api_is_there() -> None:
    for blocking, awaitable in (
        (net.Connection, aio.Connection),
        (net.Listener, aio.Listener),
        (net.Endpoint, aio.Endpoint),
    ):
        assert names(blocking) - BLOCKING_ONLY == names(awaitable), blocking


def test_a_server_that_loops_over_listeners_and_connections() -> None:
    async def serve(listener: aio.Listener) -> int:
        served = 0
        async for connection in listener:
            served += 1
            async for data in connection:
                await connection.send(data)
                await connection.flush()
        return served

    async def main() -> None:
        config = Config(ccid=3, service_codes=("ECHO",))
        async with aio.Endpoint.udp("127.0.0.1", 0, config=EndpointConfig(backlog=8)) as endpoint:
            listener = endpoint.listen(PORT, config=config)
            serving = asyncio.create_task(serve(listener))
            port = endpoint.local_address[1]
            async with await endpoint.connect(
                "127.0.0.1", PORT, udp_port=port, config=config
            ) as connection:
                await connection.send(b"hello")
                assert await connection.recv() == b"hello"
                assert connection.ccids == (3, 3)
                assert connection.service_code == "SC:ECHO"
                assert connection.peer == ("127.0.0.1", PORT)
                assert connection.peer_udp_port == port
                name = f"<skywave.net.aio.Connection to 127.0.0.1:{port} DCCP port {PORT}, open>"
                assert repr(connection) == name
                assert endpoint.stats().connections == 2
            assert connection.closed == net.Closed(code=1, name="closed")
        assert await serving == 1

    asyncio.run(main())
