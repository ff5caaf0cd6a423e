"""A sharded index behind HTTP."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from shards import MEMORY, documents, eventually, write

import gannet
import gannet.ray
from gannet.ray._serve import _request

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
        ("elsewhere", 404, "GET /health"),
    ]:
        found, answer = ask(f"{address}/{path}")
        assert found == status and message in answer["error"], (path, answer)
    assert ask(f"{address}/search", ["q"])[0] == 400


def test_members_of_requests_have_types() -> None:
    query, options = _request({"q": "x", "k": "5", "partial": "true", "timeout": "2"})
    assert (query, options) == ("x", {"k": 5, "partial": True, "timeout": 2.0})
    for body in [b"{", b"[]", b'{"q": 1}', b'{"q": "x", "k": true}', b'{"q": "x", "count": 1}']:
        with pytest.raises(gannet.InvalidError):
            _request(body)
