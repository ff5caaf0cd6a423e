"""A sharded index behind HTTP, by Ray Serve."""

from __future__ import annotations

import asyncio
import json
import os
import threading
from collections.abc import Mapping
from typing import Any, cast

from .._errors import GannetError, InvalidError, LimitError, SearchTimeoutError
from ._errors import UnavailableError
from ._hits import ShardedHits
from ._opening import open
from ._ray import imported

_OPTIONS: dict[str, type] = {
    "k": int,
    "offset": int,
    "operator": str,
    "highlight": str,
    "count": bool,
    "sources": bool,
    "timeout": float,
    "partial": bool,
}
"""What a request may have beside `q`: the options of `ShardedIndex.search`."""

_TRUTH = {"true": True, "1": True, "false": False, "0": False}


def serve_app(
    uri: str | os.PathLike[str],
    *,
    num_replicas: int = 1,
    max_ongoing_requests: int = 64,
    refresh_every: float = 10.0,
    **options: Any,
) -> Any:
    """An application for `ray.serve.run` that answers over HTTP.

    `GET /search?q=whale&k=10`, or `POST /search` with a JSON object of the same members, gives the
    hits; the options are those of `ShardedIndex.search`. `GET /health` is 200 when every shard
    answers, else 503.

    - `num_replicas` is how many processes route; each opens the index for itself.
    - `refresh_every` is after how many seconds newer writes are looked for.
    - The other options are those of `gannet.ray.open`.
    """
    serve: Any = imported("ray.serve")
    deployment = serve.deployment(
        name="gannet", num_replicas=num_replicas, max_ongoing_requests=max_ongoing_requests
    )(SearchService)
    return deployment.bind(os.fspath(uri), refresh_every, options)


class SearchService:
    """The deployment: one index, asked on threads."""

    def __init__(self, uri: str, refresh_every: float, options: Mapping[str, Any]) -> None:
        self._index = open(uri, **options)
        self._every = refresh_every
        self._ended = threading.Event()
        threading.Thread(target=self._refresh, daemon=True).start()

    async def __call__(self, request: Any) -> Any:
        """Answers a request of Starlette."""
        path, method = request.url.path.rstrip("/"), request.method
        if path.endswith("/health") and method == "GET":
            status, body = await asyncio.to_thread(self._health)
        elif path.endswith("/search") and method in ("GET", "POST"):
            given = dict(request.query_params) if method == "GET" else await request.body()
            status, body = await asyncio.to_thread(self._answer, given)
        else:
            status, body = 404, {"error": "ask GET /search?q=..., POST /search or GET /health"}
        response: Any = imported("starlette.responses").Response
        return response(json.dumps(body), status, media_type="application/json")

    def __del__(self) -> None:
        if hasattr(self, "_ended"):
            self._ended.set()
            self._index.close()

    def _refresh(self) -> None:
        while not self._ended.wait(self._every):
            try:
                self._index.refresh()
            except GannetError:
                pass  # What is open is served on, and the next time may go well.

    def _health(self) -> tuple[int, dict[str, Any]]:
        missing = self._index.missing()
        about = {
            "status": "missing shards" if missing else "ok",
            "epoch": self._index.epoch,
            "documents": len(self._index),
            "shards": self._index.shards,
            "missing": {str(shard): why for shard, why in missing.items()},
        }
        return (503 if missing else 200), about

    def _answer(self, given: dict[str, str] | bytes) -> tuple[int, dict[str, Any]]:
        try:
            query, options = _request(given)
            return 200, _body(self._index.search(query, **options))
        except InvalidError as error:
            return 400, {"error": str(error)}
        except SearchTimeoutError as error:
            return 504, {"error": str(error)}
        except (UnavailableError, LimitError) as error:
            return 503, {"error": str(error)}
        except GannetError as error:
            return 500, {"error": str(error)}


def _request(given: dict[str, str] | bytes) -> tuple[str, dict[str, Any]]:
    members: dict[str, Any] = dict(given) if isinstance(given, dict) else _object(given)
    query = members.pop("q", None)
    if not isinstance(query, str):
        raise InvalidError('the request has no query: give it in "q"')
    for name in members:
        if name not in _OPTIONS:
            raise InvalidError(f'"{name}" is unknown: give q and one of {", ".join(_OPTIONS)}')
    return query, {name: _value(name, value) for name, value in members.items()}


def _object(body: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(body)
    except ValueError as error:
        raise InvalidError(f"the body is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise InvalidError('the body is no JSON object: send one like {"q": "whale", "k": 10}')
    return cast("dict[str, Any]", found)


def _value(name: str, value: Any) -> Any:
    kind = _OPTIONS[name]
    if name == "highlight" and isinstance(value, list):
        return cast("object", value)
    if kind is bool and isinstance(value, str):
        value = _TRUTH.get(value.lower(), value)
    if kind in (int, float) and isinstance(value, str):
        try:
            value = kind(value)
        except ValueError:
            pass
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InvalidError(f'"{name}" is {value!r}: expected {kind.__name__}')
    return value


def _body(hits: ShardedHits) -> dict[str, Any]:
    found: list[dict[str, Any]] = []
    for hit in hits:
        one: dict[str, Any] = {"id": hit.id, "score": hit.score}
        if hit.json is not None:
            one["source"] = hit.source
        if hit.snippets:
            one["snippets"] = hit.snippets
        found.append(one)
    return {
        "hits": found,
        "total": hits.total,
        "total_is_exact": hits.total_is_exact,
        "missing": {str(shard): why for shard, why in hits.missing.items()},
        "epoch": hits.epoch,
        "took": hits.took,
    }
