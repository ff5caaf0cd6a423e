"""The actor that answers for one shard: a replica, with a copy or a cache on its local disk."""

from __future__ import annotations

import pickle
import shutil
import threading
import uuid
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

import gannet

from .._errors import FormatError, GannetError, MissingError
from .._native import MEMORY_MIN
from ._manifest import Shard
from ._named import named
from ._place import place_of
from ._scratch import Scratch
from ._sums import Sums, naming

Asked: TypeAlias = str | gannet.Query
"""A query as it is given."""

SortValue: TypeAlias = bool | int | float | str | None
"""A value of a hit by a key of its order."""

THREADS = 8
"""Calls that a replica answers at once."""

_STATES = 2
"""States of a shard that are kept open: what is served, and the one before."""

LEAST_MEMORY = _STATES * MEMORY_MIN
"""The least budget of a replica: that of an index for each state."""


@dataclass(frozen=True)
class ReaderOptions:
    """How each replica works."""

    memory: int
    """Of all states together."""
    cache_size: int | None = None
    """Bytes of all caches on flash. None: a state is copied to the local disk, and read there."""
    local: str | None = None


@dataclass(frozen=True)
class Values:
    """What is asked of the values of documents."""

    filter: tuple[Asked, ...] = ()
    sort: tuple[str, ...] = ()
    """The keys of the order; nothing where that is by scores."""
    after: tuple[SortValue, ...] | None = None
    facets: dict[str, int] | None = None
    aggs: dict[str, Any] | None = None

    def __bool__(self) -> bool:
        counts = self.facets is not None or self.aggs is not None
        return bool(self.filter or self.sort) or counts


@dataclass(frozen=True)
class Ask:
    """How to search, the same for all queries of a call."""

    k: int
    operator: Literal["or", "and"] = "or"
    syntax: Literal["query", "plain"] = "query"
    count: bool = False
    sources: bool = False
    """Whether documents come along."""
    timeout: float | None = None
    fields: tuple[str, ...] = ()
    """Those of all shards: a query may name one that this shard lacks."""
    values: Values = Values()


@dataclass(frozen=True)
class Ranking:
    """The best documents of one shard for one query, best first."""

    ids: list[str]
    scores: list[float]
    total: int
    total_is_exact: bool
    documents: list[bytes]
    """Their JSON, where it was asked for."""
    sort: list[list[SortValue]]
    """The values of each by the keys of the order; nothing where that is by scores."""
    places: str | None = None
    """The same with their types."""
    counted: str | None = None
    """Facets and aggregations, where any were asked for."""

    @property
    def pairs(self) -> list[tuple[str, float]]:
        """ID and score of each."""
        return list(zip(self.ids, self.scores, strict=True))


@dataclass(frozen=True)
class Found:
    """A document of the answer."""

    json: bytes
    snippets: dict[str, list[str]]


class ShardReader:
    """Opens states of a shard as they are asked for.

    Each call names the state. So the calls of one search see the same documents, whichever
    replica answers, and one that was started again needs to be told nothing.
    """

    def __init__(self, uri: str, number: int, state: str, options: ReaderOptions) -> None:
        self._place = place_of(uri)
        self._number = number
        self._options = options
        self._opening = threading.Lock()
        self._lock = threading.Lock()
        self._scratch: Scratch | None = None
        self._held: OrderedDict[str, gannet.Index] = OrderedDict()
        self._sums_lock = threading.Lock()
        self._sums: OrderedDict[str, Sums] = OrderedDict()
        # One that was started again is to be ready when it is asked.
        threading.Thread(target=self._warm, args=(state,), daemon=True).start()

    def load(self, shard: Shard, schema: Mapping[str, str]) -> None:
        """Opens a state, which has to be what the manifest says."""
        with named(self._number):
            _check(self._at(shard.state), shard, schema)

    def ping(self) -> None:
        """Shows that it is alive."""

    def statistics(self, state: str, queries: list[Asked], ask: Ask) -> gannet.Statistics:
        """What the shard adds to the statistics of these queries."""
        with named(self._number):
            return self._at(state).statistics(
                tuple(queries),
                operator=ask.operator,
                syntax=ask.syntax,
                fields=ask.fields,
                timeout=ask.timeout,
            )

    def best(
        self,
        state: str,
        served: str | None,
        query: Asked,
        statistics: gannet.Statistics | None,
        ask: Ask,
    ) -> Ranking | gannet.Statistics:
        """The best `k` documents of the shard.

        They are ranked by the statistics of all shards. Where those are neither given nor known
        here, the answer is what this shard adds to them.
        """
        with named(self._number):
            if statistics is None:
                counted = self._at(state).statistics(
                    query,
                    operator=ask.operator,
                    syntax=ask.syntax,
                    fields=ask.fields,
                    timeout=ask.timeout,
                )
                statistics = self._known(served).of(counted, ask.fields)
                if statistics is None:
                    return counted
            else:
                self._learn(served, statistics)
            hits = self._search(state, query, statistics, ask, sources=ask.sources)
            found = [hit.json for hit in hits] if ask.sources else []
            return Ranking(
                hits.ids,
                hits.scores,
                hits.total,
                hits.total_is_exact,
                found,
                [hit.sort for hit in hits] if ask.values.sort else [],
                hits.places,
                hits.counted,
            )

    def packed_best(self, request: bytes) -> bytes:
        """The same, of arguments as `pickle` makes bytes of them: Ray takes longer for objects."""
        return pickle.dumps(self.best(*pickle.loads(request)))

    def best_of_many(
        self,
        state: str,
        served: str | None,
        queries: list[Asked],
        statistics: gannet.Statistics | None,
        ask: Ask,
    ) -> list[list[tuple[str, float]]]:
        """The same for many queries, which share the reads and the threads of the engine."""
        with named(self._number):
            if statistics is not None:
                self._learn(served, statistics)
            rankings = self._at(state).search_many(
                queries,
                ask.k,
                operator=ask.operator,
                syntax=ask.syntax,
                statistics=statistics,
                ties="id",
                timeout=ask.timeout,
            )
            return [rankings[place] for place in range(len(rankings))]

    def documents(self, state: str, ids: list[str]) -> list[Found | None]:
        """The documents with these IDs."""
        with named(self._number):
            index = self._at(state)
            found = [index.get(id) for id in ids]
            return [Found(one.json, {}) if one is not None else None for one in found]

    def highlighted(
        self,
        state: str,
        query: Asked,
        statistics: gannet.Statistics | None,
        first: int,
        ask: Ask,
        highlight: str | Sequence[str],
    ) -> list[Found]:
        """`k` documents behind the first ones of the shard's own ranking, with snippets."""
        with named(self._number):
            hits = self._search(state, query, statistics, ask, offset=first, highlight=highlight)
            return [Found(hit.json, hit.snippets) for hit in hits]

    def close(self) -> None:
        """Removes what is on the local disk."""
        with self._opening, self._lock:
            for index in self._held.values():
                index.close()
            self._held.clear()
            if self._scratch is not None:
                self._scratch.remove()

    def _search(
        self,
        state: str,
        query: Asked,
        statistics: gannet.Statistics | None,
        ask: Ask,
        *,
        offset: int = 0,
        highlight: str | Sequence[str] | None = None,
        sources: bool = True,
    ) -> gannet.Hits:
        """Scores by the statistics of all shards; equal scores are in the order of their IDs."""
        values = ask.values
        if values and statistics is not None:
            statistics = naming(statistics, ask.fields)
        return self._at(state).search(
            query,
            ask.k,
            offset=offset,
            filter=list(values.filter) or None,
            sort=list(values.sort) or None,
            after=values.after,
            facets=values.facets,
            aggs=values.aggs,
            highlight=highlight,
            operator=ask.operator,
            syntax=ask.syntax,
            count=ask.count,
            sources=sources,
            statistics=statistics,
            ties=None if values.sort else "id",
            timeout=ask.timeout,
        )

    def _learn(self, served: str | None, statistics: gannet.Statistics) -> None:
        """Keeps statistics, if they are those of all shards."""
        if served is not None:
            self._known(served).learn(statistics)

    def _known(self, served: str | None) -> Sums:
        """What is known of the states that are served."""
        if served is None:
            return Sums()
        with self._sums_lock:
            sums = self._sums.setdefault(served, Sums())
            self._sums.move_to_end(served)
            while len(self._sums) > _STATES:
                self._sums.popitem(last=False)
            return sums

    def _warm(self, state: str) -> None:
        try:
            self._at(state)
        except (GannetError, OSError):
            pass  # Whoever asks is told.

    def _at(self, state: str) -> gannet.Index:
        # The lock is not held while a state is copied: searches of the other one go on.
        if (index := self._held_at(state)) is not None:
            return index
        with self._opening:
            if (index := self._held_at(state)) is not None:
                return index
            source = self._place.need(state)
            # Before the next is copied, which takes as much memory as an open state.
            with self._lock:
                while len(self._held) >= _STATES:
                    self._close_oldest()
            try:
                index = self._open(state, source)
            except (FormatError, MissingError):
                # It may have been removed meanwhile.
                self._place.need(state)
                raise
            with self._lock:
                self._held[state] = index
            return index

    def _held_at(self, state: str) -> gannet.Index | None:
        with self._lock:
            if state in self._held:
                self._held.move_to_end(state)
            return self._held.get(state)

    def _close_oldest(self) -> None:
        state, old = self._held.popitem(last=False)
        old.close()
        shutil.rmtree(self._local_folder(state), ignore_errors=True)

    def _open(self, state: str, source: str) -> gannet.Index:
        if self._scratch is None:
            uri, token = self._place.uri, uuid.uuid4().hex[:12]
            self._scratch = Scratch(self._options.local, "reader", uri, self._number, token)
        folder = self._local_folder(state)
        shutil.rmtree(folder, ignore_errors=True)
        memory, cache = self._options.memory // _STATES, self._options.cache_size
        if cache is not None:
            folder.mkdir()
            size = cache // _STATES
            return gannet.open(
                source, memory=memory, read_only=True, cache_dir=folder, cache_size=size
            )
        # A copy checks each page. To restore would read all of the index once more.
        with gannet.open(source, memory=memory, read_only=True) as shared:
            shared.backup(folder)
        return gannet.open(folder, memory=memory, read_only=True)

    def _local_folder(self, state: str) -> Path:
        """Where the copy or the cache of a state is."""
        assert self._scratch is not None
        folder: Path = self._scratch.folder / state.replace("/", "-")
        return folder


def _check(index: gannet.Index, shard: Shard, schema: Mapping[str, str]) -> None:
    fix = "restore what was there, or write the index again"
    if len(index) != shard.documents:
        raise FormatError(
            f"{shard.state} has {len(index)} documents, and the manifest says "
            f"{shard.documents}: {fix}"
        )
    for name, kind in index.fields.items():
        if schema.get(name) != kind:
            raise FormatError(
                f'{shard.state}: field "{name}" is {kind}, and the manifest says '
                f"{schema.get(name, 'nothing of it')}: {fix}"
            )
