"""Sharded indexes beside Datasets: documents of a query, and queries of a Dataset."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal

from .._errors import InvalidError
from ._index import ShardedIndex
from ._opening import open
from ._place import place_of
from ._ray import connected, imported

if TYPE_CHECKING:
    from .._native import Query


def read(
    uri: str | os.PathLike[str],
    query: str | Query,
    *,
    operator: Literal["or", "and"] = "or",
    syntax: Literal["query", "plain"] = "query",
    memory: int | str = "512MB",
) -> Any:
    """All documents that a query finds, as a Dataset with the columns id, score and all fields.

    Scores are those of one index; the rows are in no order. A task for each shard reads where the
    shard lies, and `memory` is its budget.
    """
    from ._datasource import Reading, ShardsDatasource  # It imports ray.data.

    connected()
    place = place_of(uri)
    return imported("ray.data").read_datasource(
        ShardsDatasource(Reading(place.uri, query, operator, syntax, memory))
    )


class Searcher:
    """Searches for the queries of a Dataset.

        found = queries.map_batches(gannet.ray.Searcher, fn_constructor_args=[index], concurrency=2)

    A batch gets the columns `ids` and `scores`, lists with the best `k` documents of each query.
    An index that is open is asked by its replicas, and one that is named by its place is opened.
    """

    def __init__(
        self,
        index: ShardedIndex | str | os.PathLike[str],
        *,
        column: str = "query",
        k: int = 10,
        operator: Literal["or", "and"] = "or",
        syntax: Literal["query", "plain"] = "query",
        timeout: float | None = None,
    ) -> None:
        self._index = index if isinstance(index, ShardedIndex) else open(index)
        self._column, self._k = column, k
        self._operator: Literal["or", "and"] = operator
        self._syntax: Literal["query", "plain"] = syntax
        self._timeout = timeout

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        if self._column not in batch:
            raise InvalidError(
                f'the batch has no column "{self._column}", but {list(batch)[:20]}: '
                "name that of the queries with column="
            )
        queries = [str(query) for query in batch[self._column]]
        found = self._index.search_many(
            queries,
            self._k,
            operator=self._operator,
            syntax=self._syntax,
            timeout=self._timeout,
        )
        return {
            **batch,
            "ids": [[id for id, _ in one] for one in found.values()],
            "scores": [[score for _, score in one] for one in found.values()],
        }
