"""A sharded index behind HTTP, by Ray Serve.

Whoever reaches the port may ask anything. So what a request may cost has a ceiling that the server
sets: the time of a search, the documents of an answer, the bytes of a body. Whatever else a body
holds is an answer with 400, never an exception.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import math
import os
import threading
from collections.abc import Mapping
from dataclasses import dataclass
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

_HIGHLIGHTS = 32
"""The most fields that a request may have highlighted."""

_FLOAT_ABOVE = 1 << 53
"""A whole number that is as large, or larger, is above every ceiling."""

_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Ceilings:
    """The most that a request may ask for."""

    k: int = 1_000
    """Documents of an answer, with those before its page."""
    timeout: float = 10.0
    """Seconds for a search; what it has if the request does not say."""
    body: int = 64 << 10
    """Bytes of a body."""

    def __post_init__(self) -> None:
        given = {"max_k": self.k, "max_timeout": self.timeout, "max_body": self.body}
        for name, value in given.items():
            if not (math.isfinite(value) and value > 0):
                raise InvalidError(f"{name} is {value!r}: expected a number above 0")


class _TooLongError(Exception):
    """The body is longer than the server takes."""


def serve_app(
    uri: str | os.PathLike[str],
    *,
    num_replicas: int = 1,
    max_ongoing_requests: int = 64,
    refresh_every: float = 10.0,
    max_k: int = Ceilings.k,
    max_timeout: float = Ceilings.timeout,
    max_body: int = Ceilings.body,
    token: str | None = None,
    **options: Any,
) -> Any:
    """An application for `ray.serve.run` that answers over HTTP.

    `GET /search?q=whale&k=10`, or `POST /search` with a JSON object of the same members, gives the
    hits; the options are those of `ShardedIndex.search`. `GET /health` is 200 when every shard
    answers, else 503.

    - `num_replicas` is how many processes route; each opens the index for itself.
    - `refresh_every` is after how many seconds newer writes are looked for.
    - `max_k` is the most of `offset + k`, `max_timeout` that of `timeout` in seconds and what a
      search has without one, `max_body` that of the bytes of a body.
    - With a `token`, a search needs the header `Authorization: Bearer TOKEN`, and so do the details
      of `/health`.
    - The other options are those of `gannet.ray.open`.
    """
    serve: Any = imported("ray.serve")
    deployment = serve.deployment(
        name="gannet", num_replicas=num_replicas, max_ongoing_requests=max_ongoing_requests
    )(SearchService)
    if token == "":
        raise InvalidError("the token is empty: give one that nobody guesses, or None")
    ceilings = Ceilings(max_k, max_timeout, max_body)
    return deployment.bind(os.fspath(uri), refresh_every, options, ceilings, token)


class SearchService:
    """The deployment: one index, asked on threads."""

    def __init__(
        self,
        uri: str,
        refresh_every: float,
        options: Mapping[str, Any],
        ceilings: Ceilings,
        token: str | None,
    ) -> None:
        self._ceilings = ceilings
        self._token = token
        self._index = open(uri, **options)
        self._every = refresh_every
        self._ended = threading.Event()
        threading.Thread(target=self._refresh, daemon=True).start()

    async def __call__(self, request: Any) -> Any:
        """Answers a request of Starlette."""
        path, method = request.url.path.rstrip("/"), request.method
        knows = _knows(self._token, request.headers.get("authorization"))
        if path.endswith("/health") and method == "GET":
            status, body = await asyncio.to_thread(self._health)
            body = body if knows else {"status": body["status"]}
        elif not path.endswith("/search") or method not in ("GET", "POST"):
            status, body = 404, {"error": "ask GET /search?q=..., POST /search or GET /health"}
        elif not knows:
            status, body = 401, {"error": "send the header Authorization: Bearer TOKEN"}
        else:
            status, body = await self._search(request)
        response: Any = imported("starlette.responses").Response
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        return response(json.dumps(body), status, headers, media_type="application/json")

    async def _search(self, request: Any) -> tuple[int, dict[str, Any]]:
        if request.method == "GET":
            given: dict[str, str] | bytes = dict(request.query_params)
        else:
            try:
                given = await _read(request, self._ceilings.body)
            except _TooLongError:
                most = self._ceilings.body
                return 413, {"error": f"the body has more than {most} bytes: ask for less"}
        return await asyncio.to_thread(self._answer, given)

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
            query, options = _request(given, self._ceilings)
            return 200, _body(self._index.search(query, **options))
        except InvalidError as error:
            return 400, {"error": str(error)}
        except SearchTimeoutError as error:
            return 504, {"error": str(error)}
        except (UnavailableError, LimitError) as error:
            return 503, {"error": str(error)}
        except GannetError as error:
            return 500, {"error": str(error)}


def _knows(token: str | None, header: str | None) -> bool:
    """Whether a request may be answered. The comparison takes as long for any wrong token."""
    if token is None:
        return True
    scheme, _, given = (header or "").partition(" ")
    same = hmac.compare_digest(given.strip().encode(), token.encode())
    return same and scheme.lower() == "bearer"


async def _read(request: Any, most: int) -> bytes:
    """The body; no more of it is taken than may be."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise _TooLongError
    return body


def _request(
    given: dict[str, str] | bytes, ceilings: Ceilings | None = None
) -> tuple[str, dict[str, Any]]:
    members: dict[str, Any] = dict(given) if isinstance(given, dict) else _object(given)
    query = members.pop("q", None)
    if not isinstance(query, str):
        raise InvalidError('the request has no query: give it in "q"')
    for name in members:
        if name not in _OPTIONS:
            raise InvalidError(f'"{name}" is unknown: give q and one of {", ".join(_OPTIONS)}')
    options = {name: _value(name, value) for name, value in members.items()}
    return query, _bounded(options, ceilings or Ceilings())


def _bounded(options: dict[str, Any], most: Ceilings) -> dict[str, Any]:
    """The options, none of them above its ceiling."""
    wanted = max(options.get("k", 10), 0) + max(options.get("offset", 0), 0)
    if wanted > most.k:
        raise InvalidError(
            f'"offset" and "k" ask for {wanted} documents: '
            f"the most that this server gives is {most.k}"
        )
    timeout = options.setdefault("timeout", most.timeout)
    if not 0 < timeout <= most.timeout:
        raise InvalidError(
            f'"timeout" is {timeout!r}: expected seconds above 0, and at most the {most.timeout:g} '
            "that this server gives"
        )
    return options


def _object(body: bytes) -> dict[str, Any]:
    try:
        found: Any = json.loads(body)
    except ValueError as error:
        raise InvalidError(f"the body is no JSON: {error}") from error
    except RecursionError as error:
        raise InvalidError(
            'the body is nested too deep: send an object like {"q": "whale", "k": 10}'
        ) from error
    if not isinstance(found, dict):
        raise InvalidError('the body is no JSON object: send one like {"q": "whale", "k": 10}')
    return cast("dict[str, Any]", found)


def _value(name: str, value: Any) -> Any:
    kind = _OPTIONS[name]
    if name == "highlight" and isinstance(value, list):
        return _fields(cast("list[object]", value))
    if kind is bool and isinstance(value, str):
        value = _TRUTH.get(value.lower(), value)
    if kind in (int, float) and isinstance(value, str):
        try:
            value = kind(value)
        except ValueError:
            pass
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        value = float(value) if abs(value) < _FLOAT_ABOVE else math.inf
    if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        raise InvalidError(f'"{name}" is {_shown(value)}: expected {kind.__name__}')
    return value


def _shown(value: object) -> str:
    """The beginning of a value. That of one with many levels cannot be made."""
    try:
        return repr(value)[:100]
    except RecursionError:
        return "nested too deep"


def _fields(names: list[object]) -> list[object]:
    if len(names) > _HIGHLIGHTS or not all(isinstance(name, str) for name in names):
        raise InvalidError(f'"highlight" is wrong: expected at most {_HIGHLIGHTS} names of fields')
    return names


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
