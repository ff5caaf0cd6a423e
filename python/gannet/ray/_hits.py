"""What a search over shards found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from .. import _frames


@dataclass(eq=False)
class ShardedHit:
    """A document that a search found. Its fields are decoded when one is asked for."""

    id: str
    score: float
    json: bytes | None = field(default=None, repr=False)
    """The JSON of the document, byte for byte as it came; None with `sources=False`."""
    snippets: dict[str, list[str]] = field(default_factory=dict[str, list[str]], repr=False)
    """Snippets by field, where `highlight` asked for them. Their text is not escaped."""
    _source: dict[str, Any] | None = field(default=None, init=False, repr=False)

    @property
    def source(self) -> dict[str, Any]:
        """The document, decoded the first time."""
        if self._source is None:
            source: dict[str, Any] = json.loads(self.json) if self.json is not None else {}
            self._source = source
        return self._source

    @property
    def snippet(self) -> str | None:
        """The best snippet of the first field that has one."""
        return next((some[0] for some in self.snippets.values() if some), None)

    def __getitem__(self, name: str) -> Any:
        return self.source[name]

    def __contains__(self, name: str) -> bool:
        return name in self.source

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or `default` where it is missing."""
        return self.source.get(name, default)


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
    ) -> None:
        self._hits = hits
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
    def __getitem__(self, key: int) -> ShardedHit: ...
    @overload
    def __getitem__(self, key: slice) -> list[ShardedHit]: ...
    def __getitem__(self, key: int | slice) -> ShardedHit | list[ShardedHit]:
        return self._hits[key]

    def __len__(self) -> int:
        return len(self._hits)

    def __iter__(self) -> Iterator[ShardedHit]:
        return iter(self._hits)

    def __repr__(self) -> str:
        missing = f", without shards {sorted(self.missing)}" if self.missing else ""
        return f"ShardedHits({len(self)} of {self.total}{missing})"

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with the columns id, score and all fields."""
        return _frames.hits_to_pandas(self)

    def to_polars(self) -> Any:
        """A polars.DataFrame with the columns id, score and all fields."""
        return _frames.hits_to_polars(self)

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the columns id, score and all fields."""
        return _frames.hits_to_arrow(self)
