"""The attacks that were tried, each with what becomes of it."""

import asyncio
import http.client
import socket
import urllib.request

import pytest
from tests.studio.conftest import TASK, walk_of

from rsg.studio.guard import COOKIE, Guard, Rules

LOCAL = Rules(frozenset({"127.0.0.1:80"}), "", 1000)
SECRET = Rules(frozenset({"box:80"}), "s3cret", 1000)


def asked(rules, headers, method="GET", query="", chunks=(b"",), kind="http"):
    """What a guard sends for a request; and how much of the body what stands behind it got."""
    sent, got = [], []

    async def app(scope, receive, send):
        while True:
            message = await receive()
            got.append(message["body"])
            if not message["more_body"]:
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"in"})

    waiting = [{"type": "http.request", "body": one, "more_body": True} for one in chunks[:-1]]
    waiting.append({"type": "http.request", "body": chunks[-1], "more_body": False})

    async def receive():
        return waiting.pop(0)

    async def send(message):
        sent.append(message)

    lines = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    scope = {"type": kind, "method": method, "headers": lines, "query_string": query.encode(), "path": "/"}
    asyncio.run(Guard(app, rules)(scope, receive, send))
    return sent, b"".join(got)


def status(*given, **more):
    sent, _ = asked(*given, **more)
    return sent[0].get("status")


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("host", "127.0.0.1:80")], 200),
        ([("host", "127.0.0.1:80"), ("origin", "http://127.0.0.1:80")], 200),
        ([("host", "evil.example")], 403),  # a name that was bent to this machine (DNS rebinding)
        ([("host", "127.0.0.1:80.evil.example")], 403),
        ([("host", "127.0.0.1:81")], 403),
        ([], 403),
        ([("host", "127.0.0.1:80"), ("origin", "http://evil.example")], 403),  # a page of somebody else
        ([("host", "127.0.0.1:80"), ("origin", "http://127.0.0.1:81")], 403),  # another program on this machine
        ([("host", "127.0.0.1:80"), ("origin", "null")], 403),  # a page in a sandbox, or a file
        ([("host", "127.0.0.1:80"), ("content-length", "1001")], 413),
        ([("host", "127.0.0.1:80"), ("content-length", "-1")], 413),
        ([("host", "127.0.0.1:80"), ("content-length", "many")], 413),
    ],
)
def test_who_may_ask(headers, expected):
    assert status(LOCAL, headers) == expected
    assert status(LOCAL, headers, method="POST") == expected


def test_a_form_of_another_page_is_refused_though_browsers_send_no_origin_with_some():
    host = ("host", "127.0.0.1:80")
    assert status(LOCAL, [host, ("sec-fetch-site", "cross-site")], method="POST") == 403
    assert status(LOCAL, [host, ("sec-fetch-site", "same-origin")], method="POST") == 200


def test_a_body_that_is_longer_than_it_said_is_cut_off():
    host = [("host", "127.0.0.1:80")]
    sent, got = asked(LOCAL, host, method="POST", chunks=(b"x" * 600, b"x" * 600, b"x" * 600))
    assert sent[0]["status"] == 413
    assert len(got) == 600
    assert status(LOCAL, host, method="POST", chunks=(b"x" * 500, b"x" * 500)) == 200


@pytest.mark.parametrize(
    ("headers", "query", "expected"),
    [
        ([], "", 401),
        ([("authorization", "Bearer s3cret")], "", 200),
        ([("authorization", "Bearer s3cre")], "", 401),
        ([("authorization", "Bearer ")], "", 401),
        ([("authorization", "Bearer s3cr\u00e9t")], "", 401),
        ([], "token=s3cret", 200),
        ([], "token=", 401),
        ([], "token=wrong&token=s3cret", 401),
        ([("cookie", f"{COOKIE}=s3cret")], "", 200),
        ([("cookie", f"other=1; {COOKIE}=s3cret")], "", 200),
        ([("cookie", f"{COOKIE}=wrong")], "", 401),
        ([("cookie", '"; ' * 100)], "", 401),
    ],
)
def test_a_token(headers, query, expected):
    assert status(SECRET, [("host", "box:80"), *headers], query=query) == expected


def test_the_cookie_is_for_our_own_page_alone():
    sent, _ = asked(SECRET, [("host", "box:80")], query="token=s3cret")
    told = dict(sent[0]["headers"])[b"set-cookie"].decode()
    assert told == f"{COOKIE}=s3cret; HttpOnly; SameSite=Strict; Path=/"


def test_every_answer_is_strict():
    for headers in ([("host", "127.0.0.1:80")], [("host", "evil")]):
        sent, _ = asked(LOCAL, headers)
        told = dict(sent[0]["headers"])
        assert b"default-src 'none'" in told[b"content-security-policy"]
        assert b"unsafe" not in told[b"content-security-policy"]
        assert told[b"x-content-type-options"] == b"nosniff"
        assert b"access-control-allow-origin" not in told


def test_nothing_but_http_is_spoken():
    sent, _ = asked(LOCAL, [("host", "127.0.0.1:80")], kind="websocket")
    assert sent == [{"type": "websocket.close", "code": 1008}]


# Against a real one.


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/pyproject.toml",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/main.js%00.css",
        "/runs/..%2f..%2fetc",
        "/runs/../../etc",
        "/docs",
        "/redoc",
        "/jobs/..",
    ],
)
def test_no_path_leads_out(studio, path):
    code, _, told = studio.ask("GET", path)
    assert code in (404, 422), told
    assert "root:" not in str(told)


HOSTILE = {
    "no object": [1, 2],
    "nothing": None,
    "unknown fields": {"start": [0], "run_code": "print(1)"},
    "a run elsewhere": {"run": "../../etc"},
    "a hidden run": {"run": ".part"},
    "numbers that are none": {"start": [1e999]},
    "too many numbers": {"start": [0] * 200_000},
    "words as numbers": {"start": ["a"]},
    "a budget without end": {"budget": 10**12},
    "a budget below one": {"budget": 0},
    "to wait for ever": {"wait": 1e9},
    "a setting that is a file": {"setting": "/etc/passwd", "start": [1]},
    "another world's setting": {"setting": '{"world": "playroom", "layout": "paper"}', "start": [1]},
    "a setting with a rule book": {"setting": '{"world": "crafting", "rules": {}}', "start": [1]},
    "a huge map": {"setting": '{"world": "crafting", "height": 100000, "width": 100000}', "start": [1]},
    "more objects than cells": {"setting": '{"world": "crafting", "objects": 1000000000}', "start": [1]},
    "sizes that are words": {"setting": '{"world": "crafting", "height": "6"}', "start": [1]},
    "deeply nested": {"setting": "[" * 50_000, "start": [1]},
    "a null character": {"setting": "\0", "start": [1]},
    "half a character": {"task": "\ud800", "start": [1]},
    "an unknown move": {"actions": ["__class__"], "start": [1]},
    "an episode that is not there": {"episode": 10**9},
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("path", ["/plan", "/recognise", "/segment", "/walk", "/pictures"])
def test_hostile_requests_are_refused_in_a_sentence(studio, path, name):
    body = HOSTILE[name]
    if isinstance(body, dict) and path == "/plan" and "task" not in body:
        body = {**body, "task": "grab-axe"}
    code, _, told = studio.ask("POST", path, body)
    assert code == 422, told
    assert told["error"]["message"]


@pytest.mark.parametrize(
    "task",
    [
        "(" * 2000,
        "a then " * 500,
        " and ".join(f"t{k}" for k in range(200)),
        "grab-axe" * 1000,
        "<script>alert(1)</script>",
        "'; drop table",
        "\u202egrab-axe",
        "grab-axe then\nmine-wood\0",
    ],
)
def test_hostile_texts(studio, task):
    scene = studio.post("/start", {"task": "grab-axe", "seed": 0})
    code, _, told = studio.ask("POST", "/plan", {**walk_of(scene), "task": task})
    assert code in (200, 422), told
    code, _, told = studio.ask("POST", "/read", {"text": task})
    assert code in (200, 422), told


def test_a_place_is_a_name_never_a_file(studio, tmp_path):
    (tmp_path / "mine.txt").write_text("map:\n@.T\n")
    assert studio.ask("POST", "/start", {"task": TASK, "place": str(tmp_path / "mine.txt")})[0] == 422
    assert studio.ask("POST", "/start", {"task": TASK, "place": "mine.txt"})[0] == 422


def test_a_body_that_is_no_json(studio):
    for body in (b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"task": ' + b"9" * 5000 + b"}"):
        code, _, told = studio.ask("POST", "/plan", body)
        assert code == 422, told
    assert studio.ask("POST", "/plan", b"x" * 9_000_000)[0] == 413
    assert studio.get("/health")["lost"] == 0


def test_another_host_asks_for_the_token(begin, trained):
    studio = begin(trained, "--host", "0.0.0.0", "--workers", "1")
    _, _, token = studio.address.partition("?token=")
    port = int(studio.host.rpartition(":")[2])
    studio.host = f"127.0.0.1:{port}"
    assert studio.ask("GET", "/health")[0] == 401
    assert studio.ask("GET", "/health", headers={"authorization": f"Bearer {token}"})[0] == 200
    code, headers, page = studio.ask("GET", f"/?token={token}", host="any-name:1")
    assert code == 200
    assert token not in page
    assert studio.ask("GET", "/health", headers={"cookie": headers["set-cookie"].partition(";")[0]})[0] == 200


def test_it_listens_on_this_machine_alone(studio):
    assert studio.host.startswith("127.0.0.1:")
    port = int(studio.host.rpartition(":")[2])
    name = socket.gethostbyname(socket.gethostname())
    if not name.startswith("127."):
        with pytest.raises(OSError, match="refused"):
            socket.create_connection((name, port), timeout=2)


def test_the_page_names_no_other_host(studio):
    page = urllib.request.urlopen(studio.address).read().decode()
    files = [part.split('"')[0] for part in page.split("/static/")[1:]]
    texts = [page, *(urllib.request.urlopen(f"{studio.address}static/{name}").read().decode() for name in files)]
    for text in texts:
        assert "http://" not in text.replace("http://www.w3.org/", "")
        assert "https://" not in text


def test_many_connections_that_say_nothing_stop_nobody(studio):
    port = int(studio.host.rpartition(":")[2])
    silent = [socket.create_connection(("127.0.0.1", port)) for _ in range(100)]
    try:
        assert studio.get("/health")["ok"]
    finally:
        for one in silent:
            one.close()


def test_a_header_without_end_is_cut_off(studio):
    there = http.client.HTTPConnection(studio.host, timeout=20)
    there.request("GET", "/health", headers={"x-long": "x" * 200_000})
    assert there.getresponse().status == 400
    there.close()
