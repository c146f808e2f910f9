"""Access control of the page's server: only a browser on this machine that has the token.

The server runs what the page asks for, so other pages in the same browser must not reach it. The
name in ``Host`` keeps out those that point a name of theirs to this machine, ``Origin`` those that
send requests across, and the token everybody else on the machine.
"""

from __future__ import annotations

import secrets

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse, RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; img-src 'self' data:; form-action 'none'; frame-ancestors 'none'; "
        "base-uri 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
POLICY_VIOLATION = 1008


class Guard:
    """An application behind the checks."""

    def __init__(self, app: ASGIApp, *, token: str, port: int) -> None:
        """Guard an application that is reached at ``port`` of the loopback interface."""
        self._app = app
        self._token = token
        self._cookie = f"skywave-lab-{port}"
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        refused = self._refused(connection)
        if refused is not None and scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": POLICY_VIOLATION, "reason": refused})
        elif refused is not None:
            await PlainTextResponse(refused + "\n", 403, HEADERS)(scope, receive, send)
        elif scope["path"] == "/" and "token" in connection.query_params:
            # The token leaves the address, so that a copied address has only the scenario.
            response = RedirectResponse("/", 303, HEADERS)
            response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
            await response(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refused(self, connection: HTTPConnection) -> str | None:
        """Return why a request is refused; None if it is not."""
        host = connection.headers.get("host", "")
        if host not in self._hosts:
            return "this host is not the page's: open the address that the command has printed"
        origin = connection.headers.get("origin")
        needs_origin = connection.scope["type"] == "websocket"
        if (needs_origin or origin is not None) and origin != f"http://{host}":
            return "another page may not use this one"
        given = connection.query_params.get("token") or connection.cookies.get(self._cookie, "")
        if not secrets.compare_digest(given.encode(), self._token.encode()):
            return "the token is missing or wrong: open the address that the command has printed"
        return None


def _with_headers(send: Send) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(HEADERS)
        await send(message)

    return sending
