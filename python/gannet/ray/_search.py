"""One search on one state of all shards, in steps: statistics, ranking, documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import gannet

from ._manifest import Manifest
from ._reader import Ask, Found, Ranking
from ._router import Deadline, Replicas, need_all


@dataclass(frozen=True)
class Winner:
    """A document of the answer, and the shard that has it."""

    score: float
    id: str
    shard: int


class Search:
    """The steps of a search. Shards that gave no answer are in `missing`, where that is allowed."""

    def __init__(
        self, replicas: Replicas, manifest: Manifest, ask: Ask, deadline: Deadline, partial: bool
    ) -> None:
        self.missing: dict[int, str] = {}
        self._replicas = replicas
        self._states = [shard.state for shard in manifest.shards]
        self._ask = ask
        self._deadline = deadline
        self._partial = partial

    def statistics(self, queries: list[str]) -> gannet.Statistics | None:
        """Those of all shards together, so that scores are those of one index."""
        ask = self._timed()
        parts = self._asked(
            range(len(self._states)),
            lambda shard, actor: actor.statistics.remote(self._states[shard], queries, ask),
        )
        return reduce(add, parts.values()) if parts else None

    def best(self, query: str, statistics: gannet.Statistics | None) -> dict[int, Ranking]:
        """The best documents of each shard."""
        ask = self._timed()
        return self._asked(
            self._answering(),
            lambda shard, actor: actor.best.remote(self._states[shard], query, statistics, ask),
        )

    def best_of_many(
        self, queries: list[str], statistics: gannet.Statistics | None
    ) -> dict[int, list[list[tuple[str, float]]]]:
        """The best documents of each shard for each query."""
        ask = self._timed()
        return self._asked(
            self._answering(),
            lambda shard, actor: actor.best_of_many.remote(
                self._states[shard], queries, statistics, ask
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
        query: str,
        statistics: gannet.Statistics | None,
        fields: str | Sequence[str],
    ) -> dict[str, Found]:
        """The same with snippets. Winners of a shard are neighbours in its own ranking."""
        ids = _by_shard(winners)

        def request(shard: int, actor: Any) -> Any:
            first = rankings[shard].ids.index(ids[shard][0])
            ask = replace(self._timed(), k=len(ids[shard]), count=False)
            return actor.highlighted.remote(
                self._states[shard], query, statistics, first, ask, fields
            )

        return _by_id(ids, self._asked(ids, request))

    def _timed(self) -> Ask:
        """How to search, within the time that is left."""
        return replace(self._ask, timeout=self._deadline.left())

    def _answering(self) -> list[int]:
        return [shard for shard in range(len(self._states)) if shard not in self.missing]

    def _asked(
        self, shards: Iterable[int], request: Callable[[int, Any], Any]
    ) -> dict[int, Any]:
        answers, missing = self._replicas.ask(shards, request, self._deadline)
        if not self._partial:
            need_all(missing, self._replicas)
        self.missing.update(missing)
        return answers


def merged(found: Mapping[int, Iterable[tuple[str, float]]]) -> list[Winner]:
    """The best documents of all shards, best first, and by their IDs where scores are equal."""
    all = [Winner(score, id, shard) for shard, some in found.items() for id, score in some]
    return sorted(all, key=lambda one: (-one.score, one.id))


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
