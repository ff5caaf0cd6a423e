"""One search on one state of all shards: in one call to each, unless terms are new to them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import ceil, sqrt
from operator import add
from typing import Any

import gannet
from gannet._native import shards_counted, shards_in_order

from ._manifest import Manifest
from ._reader import Ask, Asked, Found, Ranking, SortValue
from ._router import Deadline, Replicas, need_all


@dataclass(frozen=True)
class Winner:
    """A document of the answer, and the shard that has it."""

    score: float
    id: str
    shard: int
    sort: list[SortValue] = field(default_factory=list[SortValue])


class Search:
    """The calls of a search. Shards that gave no answer are in `missing`, where that is allowed."""

    def __init__(
        self, replicas: Replicas, manifest: Manifest, ask: Ask, deadline: Deadline, partial: bool
    ) -> None:
        self.missing: dict[int, str] = {}
        self._replicas = replicas
        self._turn = replicas.turn()
        self._states = [shard.state for shard in manifest.shards]
        self._served = manifest.served
        self._ask = ask
        self._deadline = deadline
        self._partial = partial
        self._statistics: gannet.Statistics | None = None

    def count(self, queries: list[Asked]) -> None:
        """Adds up the statistics of all shards, so that scores are those of one index."""
        ask = self._timed(self._ask)
        parts = self._asked(
            self._answering(),
            lambda shard, actor: actor.statistics.remote(self._states[shard], queries, ask),
        )
        self._statistics = reduce(add, parts.values()) if parts else None

    def ranked(self, query: Asked, sources: bool) -> dict[int, Ranking]:
        """The best documents of each shard: all that are among the best of all, and some others.

        A shard is asked for as many as it likely has among those, and for all if it has more.
        """
        wanted = self._ask.k
        some = replace(self._ask, k=likely(wanted, len(self._states)), sources=sources)
        rankings = self._ranked(self._answering(), query, some)
        if 0 < some.k < wanted:
            best = in_order(rankings, some)[:wanted]
            winners = {(one.shard, one.id) for one in best}
            short = [
                shard
                for shard, one in rankings.items()
                if len(one.ids) == some.k and (shard, one.ids[-1]) in winners
            ]
            if short:
                rankings |= self._ranked(short, query, replace(some, k=wanted))
        return {shard: one for shard, one in rankings.items() if shard not in self.missing}

    def best_of_many(self, queries: list[Asked]) -> dict[int, list[list[tuple[str, float]]]]:
        """The best documents of each shard for each query."""
        self.count(queries)
        statistics, served, ask = self._statistics, self._complete(), self._timed(self._ask)
        return self._asked(
            self._answering(),
            lambda shard, actor: actor.best_of_many.remote(
                self._states[shard], served, queries, statistics, ask
            ),
        )

    def documents(self, winners: Iterable[Winner]) -> dict[str, Found]:
        """The documents of the winners, each from its shard."""
        ids = _by_shard(winners)
        answers = self._asked(
            ids, lambda shard, actor: actor.documents.remote(self._states[shard], ids[shard])
        )
        return _by_id(ids, answers)

    def highlighted(
        self,
        winners: Iterable[Winner],
        rankings: Mapping[int, Ranking],
        query: Asked,
        fields: str | Sequence[str],
    ) -> dict[str, Found]:
        """The same with snippets. Winners of a shard are neighbours in its own ranking."""
        ids, statistics = _by_shard(winners), self._statistics

        def request(shard: int, actor: Any) -> Any:
            first = rankings[shard].ids.index(ids[shard][0])
            ask = self._timed(replace(self._ask, k=len(ids[shard]), count=False))
            return actor.highlighted.remote(
                self._states[shard], query, statistics, first, ask, fields
            )

        return _by_id(ids, self._asked(ids, request))

    def _ranked(self, shards: Iterable[int], query: Asked, ask: Ask) -> dict[int, Ranking]:
        """The best of these shards, which may have to add up their statistics first."""
        answers = self._best(shards, query, ask)
        ranked = {shard: one for shard, one in answers.items() if isinstance(one, Ranking)}
        counted = {shard: one for shard, one in answers.items() if shard not in ranked}
        if not counted:
            return ranked
        if sorted(counted) == self._answering():
            self._statistics = reduce(add, counted.values())
        else:
            self.count([query])
        # Those that know the sums of all shards must not use them beside others.
        again = self._answering() if self.missing else list(counted)
        return ranked | self._best(again, query, ask)

    def _best(self, shards: Iterable[int], query: Asked, ask: Ask) -> dict[int, Any]:
        statistics, timed = self._statistics, self._timed(ask)
        served = self._served if statistics is None else self._complete()

        def request(shard: int, actor: Any) -> Any:
            asked = self._states[shard], served, query, statistics, timed
            return actor.packed_best.remote(pickle.dumps(asked))

        return {shard: pickle.loads(one) for shard, one in self._asked(shards, request).items()}

    def _complete(self) -> str | None:
        """What the statistics are of, if they are those of all shards."""
        return None if self.missing else self._served

    def _timed(self, ask: Ask) -> Ask:
        """How to search, within the time that is left."""
        return replace(ask, timeout=self._deadline.left())

    def _answering(self) -> list[int]:
        return [shard for shard in range(len(self._states)) if shard not in self.missing]

    def _asked(
        self, shards: Iterable[int], request: Callable[[int, Any], Any]
    ) -> dict[int, Any]:
        answers, missing = self._replicas.ask(shards, request, self._deadline, self._turn)
        if not self._partial:
            need_all(missing, self._replicas)
        self.missing.update(missing)
        return answers


def likely(wanted: int, shards: int) -> int:
    """How many of the best documents of all one shard has at most, nearly always.

    IDs are spread at random: the mean and twice what counts vary by, and one more.
    """
    mean = wanted / shards
    return min(wanted, ceil(1 + mean + 2 * sqrt(mean)))


def merged(found: Mapping[int, Iterable[tuple[str, float]]]) -> list[Winner]:
    """The best documents of all shards, best first, and by their IDs where scores are equal."""
    all = [Winner(score, id, shard) for shard, some in found.items() for id, score in some]
    return sorted(all, key=lambda one: (-one.score, one.id))


def in_order(rankings: Mapping[int, Ranking], ask: Ask) -> list[Winner]:
    """The best documents of all shards in the order that is asked for, the first one first."""
    sort = list(ask.values.sort)
    if not sort:
        return merged({shard: one.pairs for shard, one in rankings.items()})
    shards = list(rankings)
    ordered = shards_in_order(sort, [rankings[shard].places for shard in shards])
    winners: list[Winner] = []
    for at, place in ordered:
        one = rankings[shards[at]]
        winners.append(Winner(one.scores[place], one.ids[place], shards[at], one.sort[place]))
    return winners


def counted(rankings: Mapping[int, Ranking], ask: Ask) -> tuple[Any, Any]:
    """The facets and the aggregations over all shards."""
    facets, aggs = ask.values.facets, ask.values.aggs
    parts = [one.counted for one in rankings.values() if one.counted is not None]
    text = shards_counted(facets, aggs, parts) if parts else None
    if text is None:
        return {}, {}
    answer = json.loads(text)
    shown = {
        name: [tuple(value) for value in values] for name, values in answer["facets"].items()
    }
    return shown, answer["aggs"]


def found_in(rankings: Mapping[int, Ranking]) -> dict[str, Found]:
    """The documents that came with rankings."""
    return {
        id: Found(document, {})
        for one in rankings.values()
        for id, document in zip(one.ids, one.documents, strict=True)
    }


def _by_shard(winners: Iterable[Winner]) -> dict[int, list[str]]:
    ids: dict[int, list[str]] = {}
    for one in winners:
        ids.setdefault(one.shard, []).append(one.id)
    return ids


def _by_id(ids: dict[int, list[str]], answers: Mapping[int, Any]) -> dict[str, Found]:
    return {
        id: one
        for shard, found in answers.items()
        for id, one in zip(ids[shard], found, strict=True)
        if one is not None
    }
