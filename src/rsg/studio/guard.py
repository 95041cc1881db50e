"""Who may ask: only pages of our own, on names of our own, and with the token where others could reach us."""

import hmac
import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
COOKIE = "rsg-token"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Rules(NamedTuple):
    """What a request must fulfil.

    Attributes:
        hosts: what the header `Host` may say, with the port.
        token: what everybody must know; empty: only this machine can reach us, so nobody needs one.
        most: bytes of a body.
    """

    hosts: frozenset[str]
    token: str
    most: int


class Refused(Exception):
    """A request is answered with this, and goes no further."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        self.status, self.kind, self.message = status, kind, message


class Guard:
    """Stands before an application (ASGI)."""

    def __init__(self, app: Any, rules: Rules) -> None:
        self.app, self.rules = app, rules

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Let a request pass, or answer it."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # nothing here speaks anything else
            await send({"type": "websocket.close", "code": 1008})
            return
        given: list[tuple[bytes, bytes]] = []
        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                had = {name.lower() for name, _ in message["headers"]}
                ours = [(n.encode(), v.encode()) for n, v in HEADERS.items() if n.encode() not in had]
                message = {**message, "headers": [*message["headers"], *ours, *given]}
            await send(message)

        try:
            if cookie := self._check(scope):
                given.append((b"set-cookie", cookie.encode()))
            await self.app(scope, self._counted(receive), answer)
        except Refused as refused:
            if not begun:
                await _refuse(answer, refused)

    def _check(self, scope: Message) -> str:
        """An error if a request may not pass; gives the cookie that who knows the token is given."""
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        host = headers.get("host", "").lower()
        if self.rules.hosts and host not in self.rules.hosts:
            raise Refused(403, "Host", f"this service does not answer for the host '{host[:100]}'")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host:
            raise Refused(403, "Origin", "pages of others may not ask here")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and scope["method"] != "GET":
            raise Refused(403, "Origin", "pages of others may not ask here")
        length = headers.get("content-length", "0")
        if not length.isdecimal() or int(length) > self.rules.most:
            raise Refused(413, "TooLarge", f"a request has at most {self.rules.most:,} bytes")
        return self._check_token(scope, headers) if self.rules.token else ""

    def _check_token(self, scope: Message, headers: dict[str, str]) -> str:
        asked = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if self._knows([bearer, _cookie(headers.get("cookie", ""))]):
            return ""
        if self._knows([asked]):
            return f"{COOKIE}={self.rules.token}; HttpOnly; SameSite=Strict; Path=/"
        raise Refused(
            401, "Token", "this needs the token that 'rsg studio' told when it began: open the address it gave"
        )

    def _knows(self, said: Sequence[str]) -> bool:
        return any(hmac.compare_digest(one.encode(), self.rules.token.encode()) for one in said)

    def _counted(self, receive: Receive) -> Receive:
        """The body, until it becomes too large: its length need not have been told."""
        taken = 0

        async def count() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > self.rules.most:
                raise Refused(413, "TooLarge", f"a request has at most {self.rules.most:,} bytes")
            return message

        return count


def _cookie(header: str) -> str:
    try:
        found = SimpleCookie(header).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


async def _refuse(send: Send, refused: Refused) -> None:
    body = json.dumps({"error": {"type": refused.kind, "message": refused.message}}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
