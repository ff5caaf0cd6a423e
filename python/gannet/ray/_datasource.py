"""Documents of a sharded index as a Dataset: a task for each shard, which reads where that lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any

import gannet

from .. import _frames
from . import _manifest
from ._hits import ShardedHit
from ._named import named
from ._place import place_of
from ._ray import imported, ray
from ._router import result

_ray_data: Any = imported("ray.data")
_blocks: Any = imported("ray.data.block")

_ROWS = 1000
"""Documents of a block."""


@dataclass(frozen=True)
class Reading:
    """What the tasks of all shards have to know."""

    uri: str
    query: str | gannet.Query
    operator: Any
    syntax: Any
    memory: int | str
    schema: Mapping[str, str] = field(default_factory=dict[str, str])
    statistics: gannet.Statistics | None = None

    def open(self, state: str) -> gannet.Index:
        """A state where it lies."""
        return gannet.open(place_of(self.uri).need(state), memory=self.memory, read_only=True)


class ShardsDatasource(_ray_data.Datasource):  # type: ignore[misc]  # Ray is Any here.
    """A read task for each shard. All of them read the same state."""

    def __init__(self, reading: Reading) -> None:
        base: Any = super()
        base.__init__()
        manifest = _manifest.need(place_of(reading.uri))
        self._shards = manifest.shards
        reading = replace(reading, schema=manifest.schema)
        count = ray.remote(num_cpus=0)(_statistics)
        calls = [
            count.remote(reading, number, shard.state) for number, shard in enumerate(self._shards)
        ]
        shared = sum(result(call) for call in calls)
        self._reading = replace(reading, statistics=shared)

    def estimate_inmemory_data_size(self) -> int | None:
        return None

    def get_read_tasks(self, parallelism: int, *_more: Any, **_options: Any) -> list[Any]:
        return [
            _ray_data.ReadTask(
                _reader(self._reading, number, shard.state),
                _blocks.BlockMetadata(
                    num_rows=None, size_bytes=None, exec_stats=None, input_files=None
                ),
            )
            for number, shard in enumerate(self._shards)
        ]


def _statistics(reading: Reading, number: int, state: str) -> Any:
    with named(number), reading.open(state) as index:
        return index.statistics(
            reading.query,
            operator=reading.operator,
            syntax=reading.syntax,
            fields=tuple(reading.schema),
        )


def _reader(reading: Reading, number: int, state: str) -> Callable[[], Iterator[Any]]:
    return lambda: _rows(reading, number, state)


def _rows(reading: Reading, number: int, state: str) -> Iterator[Any]:
    """Tables of all documents that match."""
    with named(number), reading.open(state) as index:
        found = index.matching(
            reading.query,
            operator=reading.operator,
            syntax=reading.syntax,
            statistics=reading.statistics,
        )
        while some := list(islice(found, _ROWS)):
            hits = [ShardedHit(id, score, index[id].json) for id, score in some]
            yield _frames.hits_to_arrow(hits, list(reading.schema.items()))
