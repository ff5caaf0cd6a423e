"""What a search over shards found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

from .. import _frames
from .._errors import InvalidError
from .._native import read_rankings, selected

if TYPE_CHECKING:
    from .._native import Rankings


@dataclass(eq=False)
class ShardedHit(Mapping[str, Any]):
    """A document that a search found. Its fields are decoded when one is asked for."""

    id: str
    score: float
    json: bytes | None = field(default=None, repr=False)
    """The JSON of the document, byte for byte as it came; None with `sources=False`."""
    snippets: dict[str, list[str]] = field(default_factory=dict[str, list[str]], repr=False)
    """Snippets by field, where `highlight` asked for them. Their text is not escaped."""
    fields: list[str] | None = field(default=None, repr=False)
    """The fields that it has; None means all."""
    sort: list[bool | int | float | str | None] = field(
        default_factory=list[bool | int | float | str | None], repr=False, kw_only=True
    )
    """The values by the keys of the order, where `sort` asked for one; the last is the ID."""
    _source: dict[str, Any] | None = field(default=None, init=False, repr=False)

    @property
    def source(self) -> dict[str, Any]:
        """The document, decoded the first time."""
        if self._source is None:
            if self.json is None:
                raise InvalidError(
                    "the search was made with sources=False, so hits have no fields: leave that out"
                )
            source: dict[str, Any] = json.loads(self.json)
            if self.fields is not None:
                source = selected(source, self.fields)
            self._source = source
        return self._source

    @property
    def snippet(self) -> str | None:
        """The best snippet of the first field that has one."""
        return next((some[0] for some in self.snippets.values() if some), None)

    def __getitem__(self, name: str) -> Any:
        if name in self.source:
            return self.source[name]
        names = ", ".join(self.source)
        raise KeyError(f'document {self.id} has no field "{name}"; it has: {names}')

    def __iter__(self) -> Iterator[str]:
        return iter(self.source)

    def __len__(self) -> int:
        return len(self.source)


class ShardedHits(Sequence[ShardedHit]):
    """What a search found, best first; equal scores in the order of their IDs."""

    def __init__(
        self,
        hits: list[ShardedHit],
        *,
        total: int,
        total_is_exact: bool,
        missing: dict[int, str],
        epoch: int,
        took: float,
        schema: Mapping[str, str] | None = None,
        facets: dict[str, list[tuple[bool | int | float | str, int]]] | None = None,
        aggs: dict[str, Any] | None = None,
    ) -> None:
        self._hits = hits
        self._schema = schema
        self.facets = facets or {}
        """The values of the fields that `facets` named with their counts."""
        self.aggs = aggs or {}
        """The answers of `aggs`, as Elasticsearch gives them."""
        self.total = total
        """Documents that match, or at least so many; see `total_is_exact`."""
        self.total_is_exact = total_is_exact
        self.missing = missing
        """The shards that gave no answer, and why. Their documents are in no figure."""
        self.epoch = epoch
        """The write whose state was searched."""
        self.took = took
        """Seconds that the search took."""

    @property
    def is_partial(self) -> bool:
        """Whether a shard is missing, which only `partial=True` allows."""
        return bool(self.missing)

    @property
    def ids(self) -> list[str]:
        """The external IDs, best first."""
        return [hit.id for hit in self._hits]

    @property
    def scores(self) -> list[float]:
        """The scores, best first."""
        return [hit.score for hit in self._hits]

    @overload
    def __getitem__(self, key: SupportsIndex) -> ShardedHit: ...
    @overload
    def __getitem__(self, key: slice) -> ShardedHits: ...
    def __getitem__(self, key: SupportsIndex | slice) -> ShardedHit | ShardedHits:
        return self._some(self._hits[key]) if isinstance(key, slice) else self._hits[key]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[ShardedHit]:
        return iter(self._hits)

    def __repr__(self) -> str:
        missing = f", without shards {sorted(self.missing)}" if self.missing else ""
        return f"ShardedHits({len(self)} of {self.total}{missing})"

    def _some(self, hits: list[ShardedHit]) -> ShardedHits:
        return ShardedHits(
            hits,
            total=self.total,
            total_is_exact=self.total_is_exact,
            missing=self.missing,
            epoch=self.epoch,
            took=self.took,
            schema=self._schema,
            facets=self.facets,
            aggs=self.aggs,
        )

    @property
    def _columns(self) -> _frames.Columns:
        return None if self._schema is None else list(self._schema.items())

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with the columns id, score and all fields."""
        return _frames.hits_to_pandas(self, self._columns)

    def to_polars(self) -> Any:
        """A polars.DataFrame with the columns id, score and all fields."""
        return _frames.hits_to_polars(self, self._columns)

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the columns id, score and all fields."""
        return _frames.hits_to_arrow(self, self._columns)


class ShardedRankings(dict[str, list[tuple[str, float]]]):
    """The IDs and scores of the best documents of many queries, by the IDs of the queries.

    A number is the place of a query, as in `gannet.Rankings`.
    """

    def __getitem__(self, key: str | SupportsIndex) -> list[tuple[str, float]]:
        if isinstance(key, str):
            return super().__getitem__(key)
        try:
            return list(self.values())[key]
        except IndexError:
            raise IndexError("there are not so many queries") from None

    @property
    def queries(self) -> list[str]:
        """The IDs of the queries, in their order."""
        return list(self)

    def rankings(self) -> Rankings:
        """The same as those of an index that is not sharded."""
        return read_rankings(list(self), list(self.values()))

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Scores by document by query, as `ir_measures` takes them."""
        return self.rankings().to_dict()

    def to_columns(self) -> dict[str, list[Any]]:
        """The columns query, rank, id and score as lists."""
        return self.rankings().to_columns()

    def to_trec(self, path: str | PathLike[str], tag: str = "gannet") -> None:
        """Writes a run file as TREC's tools read it."""
        self.rankings().to_trec(path, tag)

    def to_arrow(self) -> Any:
        """A pyarrow.Table of all answers."""
        return self.rankings().to_arrow()

    def to_polars(self) -> Any:
        """A polars.DataFrame of all answers."""
        return self.rankings().to_polars()

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of all answers."""
        return self.rankings().to_pandas()
