"""A sharded index, open for searching."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import index
from typing import Any, Literal, Never, Self, SupportsIndex, TypeVar, cast

import gannet

from .._errors import ClosedError, ExpiredError, InvalidError
from . import _manifest
from ._hashing import id_text, shard_of
from ._hits import ShardedHit, ShardedHits, ShardedRankings
from ._known import known
from ._manifest import Manifest
from ._place import place_of
from ._ray import ray
from ._reader import Ask, Asked, Found, SortValue, Values
from ._router import Deadline, Replicas
from ._search import Search, Winner, counted, found_in, in_order, merged

_MOST = 10_000
"""The most documents that a search may ask for, those that it skips included."""

_SEARCH = "k offset filter sort after facets aggs highlight fields operator syntax count sources timeout partial"
"""The options of `search`, as errors list them."""

_MANY = "k operator syntax timeout"
"""Those of `search_many`."""

_T = TypeVar("_T")


class ShardedIndex:
    """Shards that are searched as one index. Threads may share it.

    It can be handed to tasks and actors of Ray, where it asks the same replicas. They end when the
    one that `open` gave is closed, or its process ends.
    """

    def __init__(self, uri: str, replicas: Replicas, manifest: Manifest, *, owns: bool) -> None:
        self._uri = uri
        self._replicas: Replicas | None = replicas
        self._manifest = manifest
        self._owns = owns
        self._refreshing = threading.Lock()

    def search(
        self,
        query: Asked,
        k: SupportsIndex = 10,
        *,
        offset: SupportsIndex = 0,
        filter: Asked | list[Asked] | None = None,
        sort: str | Sequence[str] | None = None,
        after: Sequence[SortValue] | None = None,
        facets: str | Sequence[str] | Mapping[str, int] | None = None,
        aggs: Mapping[str, Any] | None = None,
        highlight: str | Sequence[str] | None = None,
        fields: str | Sequence[str] | None = None,
        operator: Literal["or", "and"] = "or",
        syntax: Literal["query", "plain"] = "query",
        count: bool = False,
        sources: bool = True,
        timeout: float | None = None,
        partial: bool = False,
        **unknown: Never,
    ) -> ShardedHits:
        """The best `k` documents for a query, behind the first `offset`.

        The options are those of `gannet.Index.search`. A shard without a replica that answers is
        an `UnavailableError`; with `partial=True` the answer says what it is without.
        """
        begun = time.perf_counter()
        known(unknown, "search", _SEARCH)
        k, offset = _whole("k", k), _whole("offset", offset)
        deadline = Deadline(timeout)
        schema = self.fields
        values = _values(filter, sort, after, facets, aggs)
        ask = _ask(k, offset, operator, syntax, count, schema, values)
        asked = _asked(query)
        shown = _named("fields", fields, schema)
        marked = _named("highlight", highlight, schema)

        def run(manifest: Manifest) -> ShardedHits:
            search = Search(self._alive(), manifest, ask, deadline, partial)
            if marked:
                search.count([asked])
            # Of a page far behind, the documents before it are not wanted.
            together = sources and not marked and offset <= k
            rankings = search.ranked(asked, together)
            winners = in_order(rankings, ask)[offset : offset + k]
            facets, aggs = counted(rankings, ask)
            if marked:
                found = search.highlighted(winners, rankings, asked, marked)
            elif together:
                found = found_in(rankings)
            else:
                found = search.documents(winners) if sources else {}
            return ShardedHits(
                _hits(winners, found, search.missing, shown),
                total=sum(one.total for one in rankings.values()),
                total_is_exact=not search.missing
                and all(one.total_is_exact for one in rankings.values()),
                missing=search.missing,
                epoch=manifest.epoch,
                took=time.perf_counter() - begun,
                schema=_shown(schema, shown) if sources else None,
                facets=facets,
                aggs=aggs,
            )

        return self._at_one_state(run)

    def search_many(
        self,
        queries: Iterable[Asked] | Mapping[str, Asked],
        k: SupportsIndex = 10,
        *,
        operator: Literal["or", "and"] = "or",
        syntax: Literal["query", "plain"] = "query",
        timeout: float | None = None,
        **unknown: Never,
    ) -> ShardedRankings:
        """IDs and scores of the best `k` documents of many queries, by the IDs of the queries.

        A dict gives queries by ID; those of a list are numbered from 0. A number is the place of a
        query in the answer.
        """
        known(unknown, "search_many", _MANY)
        k = _whole("k", k)
        named = _by_name(queries)
        names, texts = list(named), list(named.values())
        deadline = Deadline(timeout)
        ask = _ask(k, 0, operator, syntax, False, self.fields)

        def run(manifest: Manifest) -> ShardedRankings:
            search = Search(self._alive(), manifest, ask, deadline, partial=False)
            ranked = search.best_of_many(texts)
            answers = ShardedRankings()
            for place, name in enumerate(names):
                winners = merged({shard: all[place] for shard, all in ranked.items()})[:k]
                answers[name] = [(one.id, one.score) for one in winners]
            return answers

        return self._at_one_state(run) if texts else ShardedRankings()

    def get(self, id: str | int) -> ShardedHit | None:
        """The document with this ID, or None. Its score is 0."""
        text = id_text(id, self._manifest.id)

        def run(manifest: Manifest) -> ShardedHit | None:
            winner = Winner(0.0, text, shard_of(text, len(manifest.shards)))
            search = Search(self._alive(), manifest, Ask(1), Deadline(None), partial=False)
            found = search.documents([winner])
            return _hit(winner, found[text]) if text in found else None

        return self._at_one_state(run)

    def refresh(self) -> bool:
        """Moves to what was written meanwhile; whether there was anything."""
        with self._refreshing:
            manifest = _manifest.need(place_of(self._uri))
            if manifest.epoch == self._manifest.epoch:
                return False
            self.load(manifest)
            return True

    def load(self, manifest: Manifest) -> None:
        """Has all replicas open the shards that a manifest names, and searches them from then on.

        Where newer writes take its place meanwhile, it is the newest manifest.
        """
        while True:
            shards, schema = manifest.shards, manifest.schema
            try:
                self._alive().ask_all(
                    lambda shard, actor: actor.load.remote(shards[shard], schema)
                )
                self._manifest = manifest
                return
            except ExpiredError:
                newest = _manifest.need(place_of(self._uri))
                if newest.epoch == manifest.epoch:
                    raise
                manifest = newest

    def missing(self, timeout: float = 5.0) -> dict[int, str]:
        """The shards of which no replica answers within so many seconds, and why."""
        return self._alive().ask_each(lambda _, actor: actor.ping.remote(), timeout)

    @property
    def epoch(self) -> int:
        """The write whose state is searched."""
        return self._manifest.epoch

    @property
    def fields(self) -> dict[str, str]:
        """The fields with the names of their analyzers."""
        return dict(self._manifest.schema)

    @property
    def shards(self) -> int:
        """How many shards it has."""
        return len(self._manifest.shards)

    @property
    def uri(self) -> str:
        """Its place: the shared folder, or the URL."""
        return self._uri

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._replicas is None

    def close(self) -> None:
        """Ends the replicas and removes their copies. To close it twice does nothing."""
        replicas, self._replicas = self._replicas, None
        if replicas is None or not self._owns or not ray.is_initialized():
            return
        actors = [actor for some in replicas.actors for actor in some]
        closing = [actor.close.remote() for actor in actors]
        ray.wait(closing, num_returns=len(closing), timeout=5.0)
        for actor in actors:
            ray.kill(actor)

    def __len__(self) -> int:
        return self._manifest.documents

    def __bool__(self) -> bool:
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self.shards} shards, {len(self)} documents"
        return f"ShardedIndex({self._uri!r}, {state})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        replicas = self._alive()
        return _again, (self._uri, replicas.actors, replicas.hedge, self._manifest)

    def _alive(self) -> Replicas:
        if self._replicas is None:
            raise ClosedError(f"{self._uri} was closed: open it again")
        return self._replicas

    def _at_one_state(self, run: Callable[[Manifest], _T]) -> _T:
        """Runs a search on one state, and on a newer one where a replica no longer has that."""
        manifest = self._manifest
        try:
            return run(manifest)
        except ExpiredError:
            # Another thread may have moved it on already.
            if not self.refresh() and self._manifest.epoch == manifest.epoch:
                raise
            return run(self._manifest)


def _again(uri: str, actors: list[list[Any]], hedge: float, manifest: Manifest) -> ShardedIndex:
    return ShardedIndex(uri, Replicas(actors, hedge), manifest, owns=False)


def _by_name(queries: Iterable[Asked] | Mapping[str, Asked]) -> dict[str, Asked]:
    if isinstance(queries, Mapping):
        given = cast("Mapping[str, Asked]", queries)
        return {str(name): _asked(query) for name, query in given.items()}
    if isinstance(queries, (str, gannet.Query)):
        raise InvalidError(
            "expected queries, which are a list of strings or a dict by ID, found one: for one query "
            "there is search"
        )
    return {str(number): _asked(query) for number, query in enumerate(queries)}


def _asked(query: object) -> Asked:
    if isinstance(query, (str, gannet.Query)):
        return query
    found = type(query).__name__
    raise InvalidError(f"expected a query, which is a string or a Query, found {found}")


def _whole(name: str, given: object) -> int:
    if isinstance(given, SupportsIndex) and not isinstance(given, bool):
        return index(given)
    raise InvalidError(f"{name}={given!r}: expected a whole number from 0")


def _named(
    name: str, given: object, schema: Mapping[str, str]
) -> list[str] | None:
    """The names of fields that an option has."""
    if given is None or given is False:
        return None
    names = cast("Sequence[object]", [given] if isinstance(given, str) else given)
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
        raise InvalidError(f'{name}={given!r}: name fields, as in {name}="body"')
    fields = [str(one) for one in names]
    for one in fields:
        if one != "id" and schema and not _shown(schema, [one]):
            there = ", ".join(list(schema)[:20])
            raise InvalidError(f'{name}={given!r}: there is no field "{one}", but {there}')
    return fields


def _shown(schema: Mapping[str, str], names: list[str] | None) -> dict[str, str]:
    """The fields of these names, and all within objects of these names."""
    if names is None:
        return dict(schema)
    return {
        field: kind
        for field, kind in schema.items()
        if any(field == name or field.startswith(name + ".") for name in names)
    }


_FACET = 10
"""Values of a facet unless another number is given."""


def _values(
    filter: object,
    sort: str | Sequence[str] | None,
    after: Sequence[SortValue] | None,
    facets: str | Sequence[str] | Mapping[str, int] | None,
    aggs: Mapping[str, Any] | None,
) -> Values:
    """What is asked of values. Hits with equal values are in the order of their IDs."""
    filters = cast("Sequence[object]", filter if isinstance(filter, (list, tuple)) else [filter])
    keys = [sort] if isinstance(sort, str) else list(sort or [])
    if any(key.lstrip("-") == "_doc" for key in keys):
        raise InvalidError(
            "sort: _doc is a place in one index, and shards have no common one: sort by _id"
        )
    if after is not None and not keys:
        raise InvalidError("after= has the values of a hit by the keys of sort=: give these too")
    if keys and not any(key.lstrip("-") == "_id" for key in keys):
        keys.append("_id")
    if after is not None and len(after) != len(keys):
        raise InvalidError(
            f"after= has {len(after)} values for the {len(keys)} keys {', '.join(keys)}: give "
            "the sort of a hit as it is"
        )
    if isinstance(facets, str):
        facets = [facets]
    if facets is not None and not isinstance(facets, Mapping):
        facets = dict.fromkeys(facets, _FACET)
    return Values(
        tuple(_asked(one) for one in filters if one is not None),
        tuple(keys),
        None if after is None else tuple(after),
        None if facets is None else dict(facets),
        None if aggs is None else dict(aggs),
    )


def _ask(
    k: int,
    offset: int,
    operator: Literal["or", "and"],
    syntax: Literal["query", "plain"],
    count: bool,
    fields: Iterable[str],
    values: Values = Values(),
) -> Ask:
    if k < 0 or offset < 0 or k + offset > _MOST:
        raise InvalidError(
            f"k={k}, offset={offset}: expected numbers from 0 whose sum is at most {_MOST}: "
            "take gannet.ray.read for all documents of a query"
        )
    return Ask(k + offset, operator, syntax, count, fields=tuple(fields), values=values)


def _hits(
    winners: list[Winner],
    found: Mapping[str, Found],
    missing: Mapping[int, str],
    fields: list[str] | None,
) -> list[ShardedHit]:
    """The winners, without those whose shard was lost before it gave the document."""
    return [_hit(one, found.get(one.id), fields) for one in winners if one.shard not in missing]


def _hit(winner: Winner, found: Found | None, fields: list[str] | None = None) -> ShardedHit:
    if found is None:
        return ShardedHit(winner.id, winner.score, sort=winner.sort)
    return ShardedHit(
        winner.id, winner.score, found.json, found.snippets, fields, sort=winner.sort
    )
