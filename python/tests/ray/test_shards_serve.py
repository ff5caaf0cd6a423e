"""A sharded index behind HTTP."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from shards import MEMORY, documents, eventually, write

import gannet
import gannet.ray
from gannet.ray._serve import Ceilings, SearchService, _knows, _read, _request, _TooLongError

pytestmark = pytest.mark.filterwarnings("ignore")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@pytest.fixture(scope="module")
def place(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    uri = tmp_path_factory.mktemp("served") / "wiki"
    write(documents(200), uri, shards=2)
    return uri


@pytest.fixture(scope="module")
def address(place: Path) -> Iterator[str]:
    # Its import warns of itself.
    from ray import serve

    port = free_port()
    # Ray gives it no types.
    stop: Any = serve.shutdown
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    try:
        app = gannet.ray.serve_app(place, replicas=1, memory=MEMORY, refresh_every=0.2)
        serve.run(app, route_prefix="/")
        yield f"http://127.0.0.1:{port}"
    finally:
        stop()


def ask(url: str, body: Any = None) -> tuple[int, Any]:
    data = None if body is None else json.dumps(body).encode()
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data), timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_searches_are_answered(address: str, place: Path) -> None:
    status, answer = ask(f"{address}/search?q=whaa+shipb&k=3&count=true")
    assert status == 200 and len(answer["hits"]) == 3 and answer["total_is_exact"]
    best = answer["hits"][0]
    assert best["source"]["id"] == best["id"] and best["score"] > 0 and answer["missing"] == {}
    asked = {"q": "body:whaa", "k": 2, "highlight": ["body"], "sources": True}
    status, answer = ask(f"{address}/search", asked)
    assert status == 200 and "<em>" in answer["hits"][0]["snippets"]["body"][0]


def test_health_and_newer_writes(address: str, place: Path) -> None:
    status, health = ask(f"{address}/health")
    assert (status, health["status"], health["shards"]) == (200, "ok", 2)
    write([{"id": "new", "body": "entirelynew"}], place)
    eventually(lambda: ask(f"{address}/search?q=entirelynew")[1]["hits"] != [])


def test_bad_requests_say_what_to_do(address: str) -> None:
    for path, status, message in [
        ("search", 400, "has no query"),
        ("search?q=x&size=3", 400, '"size" is unknown'),
        ("search?q=x&k=many", 400, '"k" is \'many\': expected int'),
        ("search?q=%22x", 400, ""),
        ("search?q=x&timeout=0.000000001", 504, "give it more time"),
        ("search?q=x&timeout=1000", 400, "at most the 10 that this server gives"),
        ("search?q=x&k=900&offset=200", 400, "ask for 1100 documents"),
        ("elsewhere", 404, "GET /health"),
    ]:
        found, answer = ask(f"{address}/{path}")
        assert found == status and message in answer["error"], (path, answer)
    assert ask(f"{address}/search", ["q"])[0] == 400
    status, answer = ask(f"{address}/search", {"q": "x" * 100_000})
    assert status == 413 and "more than 65536 bytes" in answer["error"]
    for body in [b"[" * 60_000, b'{"q":' * 10_000]:
        nested = urllib.request.Request(f"{address}/search", body)
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(nested, timeout=30)
        assert error.value.code == 400
        error.value.close()


def test_members_of_requests_have_types() -> None:
    query, options = _request({"q": "x", "k": "5", "partial": "true", "timeout": "2"})
    assert (query, options) == ("x", {"k": 5, "partial": True, "timeout": 2.0})
    assert _request({"q": "x"}, Ceilings(timeout=3.0))[1] == {"timeout": 3.0}
    for body in [b"{", b"[]", b'{"q": 1}', b'{"q": "x", "k": true}', b'{"q": "x", "count": 1}']:
        with pytest.raises(gannet.InvalidError):
            _request(body)


def test_what_a_request_may_cost_has_a_ceiling() -> None:
    for body, message in [
        (b'{"q": "x", "k": 1001}', "the most that this server gives is 1000"),
        (b'{"q": "x", "offset": 100000}', "ask for 100010 documents"),
        (b'{"q": "x", "timeout": 11}', '"timeout" is 11.0'),
        (b'{"q": "x", "timeout": 1e999}', '"timeout" is inf'),
        (b'{"q": "x", "timeout": 1' + b"0" * 400 + b"}", '"timeout" is inf'),
        (b'{"q": "x", "k": 2000, "offset": -1500}', "ask for 2000 documents"),
        (b'{"q": "x", "timeout": NaN}', '"timeout" is nan'),
        (b'{"q": "x", "timeout": -1}', '"timeout" is -1'),
        (b'{"q": "x", "highlight": [1]}', "names of fields"),
        (json.dumps({"q": "x", "highlight": ["a"] * 33}).encode(), "at most 32"),
        (b"[" * 50_000, "nested too deep"),
        (b'{"q": ' * 5_000 + b"1" + b"}" * 5_000, ""),
        (b'{"q": "x", "k": ' + b"9" * 10_000 + b"}", ""),
        (b'{"q": "x", "k": ' + b"[" * 500 + b"]" * 500 + b"}", '"k" is [['),
        (b"\xff\xfe", "no JSON"),
    ]:
        with pytest.raises(gannet.InvalidError) as error:
            _request(body)
        assert message in str(error.value) and len(str(error.value)) < 300
    for k, timeout, most in [(0, 1.0, 1), (1, float("inf"), 1), (1, 1.0, -1)]:
        with pytest.raises(gannet.InvalidError):
            Ceilings(k, timeout, most)
    with pytest.raises(gannet.InvalidError):
        gannet.ray.serve_app("wiki", token="")


def test_a_token_is_asked_for_where_there_is_one() -> None:
    assert _knows(None, None) and _knows(None, "Bearer x")
    assert _knows("secret", "Bearer secret") and _knows("secret", "bearer  secret")
    for header in [None, "", "secret", "Bearer", "Bearer secre", "Bearer secret2", "Basic secret"]:
        assert not _knows("secret", header)
    assert not _knows("geheim\u00e4", "Bearer geheim")


class NoIndex:
    """Stands for an index, for requests that are turned away before it is asked."""

    epoch, shards = 1, 2

    def __len__(self) -> int:
        return 3

    def missing(self) -> dict[int, str]:
        return {}

    def close(self) -> None:
        pass


def asked(method: str, path: str, header: bytes | None, body: bytes = b"") -> tuple[int, Any]:
    """What a service with the token `secret` answers."""
    from starlette.requests import Request

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    service = SearchService.__new__(SearchService)
    service._index, service._ended = cast("Any", NoIndex()), threading.Event()
    service._ceilings, service._token = Ceilings(), "secret"
    headers = [] if header is None else [(b"authorization", header)]
    scope = {"type": "http", "method": method, "path": path, "query_string": b""}
    answer = asyncio.run(service(Request({**scope, "headers": headers}, receive)))
    return answer.status_code, json.loads(answer.body)


def test_who_is_unknown_learns_nothing() -> None:
    for header in [None, b"Bearer wrong"]:
        status, answer = asked("POST", "/search", header, b'{"q": "x"}')
        assert status == 401 and "Authorization: Bearer" in answer["error"]
        assert asked("GET", "/health", header) == (200, {"status": "ok"})
    assert asked("GET", "/health", b"Bearer secret")[1]["documents"] == 3
    assert asked("POST", "/search", b"Bearer secret", b"[" * 50_000)[0] == 400
    assert asked("POST", "/search", b"Bearer secret", b"x" * 70_000)[0] == 413


def test_no_more_of_a_body_is_taken_than_may_be() -> None:
    class Request:
        taken = 0

        async def stream(self) -> AsyncIterator[bytes]:
            for _ in range(1_000):
                self.taken += 10
                yield b"x" * 10

    request = Request()
    with pytest.raises(_TooLongError):
        asyncio.run(_read(request, 95))
    assert request.taken == 100
    assert len(asyncio.run(_read(Request(), 10_000))) == 10_000
