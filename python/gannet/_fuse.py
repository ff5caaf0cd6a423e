"""Hybrid search: rankings of several engines become one."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import NamedTuple, SupportsIndex

from ._errors import InvalidError
from ._native import Hit, Hits


class Fused(NamedTuple):
    """A document of a fused ranking."""

    id: str
    """Its ID."""
    score: float
    """The sum of `1 / (k + rank)` over the rankings that have it."""
    hit: Hit | None
    """The hit, where a ranking of Gannet has it: its fields and snippets."""


def fuse(
    rankings: Iterable[Hits | Iterable[str | int]], k: float = 60, limit: int | None = None
) -> list[Fused]:
    """Reciprocal rank fusion (Cormack, Clarke and Buettcher, 2009).

    Each ranking is the `Hits` of a search, or the IDs that another engine found, best first. Only
    places count, so the scores of the engines need not be comparable. `k` damps the first places.
    Documents with the same score keep the order in which they are first seen.
    """
    if isinstance(rankings, (Hits, str)):
        raise InvalidError("fuse expects a list of rankings, not one: fuse([hits, others])")
    if k < 0:
        raise InvalidError(f"k={k} is negative: give 0 or more, usually 60")
    if limit is not None and limit < 0:
        raise InvalidError(f"limit={limit} is negative: give how many documents are wanted")
    scores: dict[str, float] = {}
    hits: dict[str, Hit] = {}
    for ranking in rankings:
        if isinstance(ranking, Hits):
            for hit in ranking:
                hits.setdefault(hit.id, hit)
            ranking = ranking.ids
        elif isinstance(ranking, (str, bytes)):
            raise InvalidError(f"a ranking is a list of IDs, not the text {ranking!r}")
        # The first place of an ID counts where a ranking has it twice.
        for rank, id in enumerate(dict.fromkeys(map(_id, ranking)), 1):
            scores[id] = scores.get(id, 0.0) + 1.0 / (k + rank)
    ordered = sorted(scores.items(), key=lambda pair: -pair[1])
    return [Fused(id, score, hits.get(id)) for id, score in ordered[:limit]]


def _id(given: object) -> str:
    if isinstance(given, str):
        return given
    # Integers of numpy are none of Python's, but have an index.
    if isinstance(given, SupportsIndex) and not isinstance(given, bool):
        return str(index(given))
    raise InvalidError(
        f"an ID is a string or an integer, found {type(given).__name__}: give the IDs, best first"
    )
