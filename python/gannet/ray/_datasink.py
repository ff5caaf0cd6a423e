"""Rows of a Dataset on their way to the shards.

Only writing imports this module: `ray.data` takes a second, which readers need not wait for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._errors import InvalidError
from ._contents import line
from ._hashing import content_digest, id_text, shard_of
from ._ray import imported
from ._writer import Job
from ._writing import ROWS, answer

_ray_data: Any = imported("ray.data")
_pyarrow: Any = imported("pyarrow")


class GannetDatasink(_ray_data.Datasink):  # type: ignore[misc]  # Ray is Any here.
    """Sends rows to the writers. The manifest is left to the caller, after the last task."""

    def __init__(self, job: Job, writers: list[Any]) -> None:
        self._job = job
        self._writers = writers

    @property
    def min_rows_per_write(self) -> int:
        """Small blocks are sent together."""
        return ROWS

    def on_write_start(self, schema: Any = None) -> None:
        if schema is not None:
            _check_columns(list(schema.names), self._job.id)

    def write(self, blocks: Iterable[Any], ctx: Any) -> int:
        return sum(_send(block, self._job, self._writers) for block in blocks)


def _check_columns(names: list[str], id: str) -> None:
    if id not in names:
        raise InvalidError(
            f'the rows have no column "{id}" for their IDs, but {names[:20]}: name it with id=. '
            "A row needs an ID since Ray may run a task twice"
        )


def _send(block: Any, job: Job, writers: list[Any]) -> int:
    """Sends the rows of a block and waits until they are durable."""
    table = _ray_data.block.BlockAccessor.for_block(block).to_arrow()
    if table.num_rows == 0:
        return 0
    _check_columns(table.column_names, job.id)
    under_way: list[tuple[Any, int]] = []
    for start in range(0, table.num_rows, ROWS):
        # The writers work on these rows while the next are made.
        before, under_way = under_way, _sent(table.slice(start, ROWS), job, writers)
        _finish(before)
    _finish(under_way)
    return int(table.num_rows)


def _sent(rows: Any, job: Job, writers: list[Any]) -> list[tuple[Any, int]]:
    ids = [id_text(value, job.id) for value in rows.column(job.id).to_pylist()]
    parts: dict[int, list[int]] = {}
    for row, id in enumerate(ids):
        parts.setdefault(shard_of(id, len(writers)), []).append(row)
    lines = _lines(rows, ids)
    calls: list[tuple[Any, int]] = []
    for shard, places in sorted(parts.items()):
        part = rows.take(_pyarrow.array(places))
        text = "".join([lines[row] for row in places])
        calls.append((writers[shard].add.remote(part, text), shard))
    return calls


def _lines(rows: Any, ids: list[str]) -> list[str]:
    """What `Contents` keeps of each row."""
    names = sorted(rows.column_names)
    columns = [rows.column(name).to_pylist() for name in names]
    return [
        line(content_digest(list(zip(names, values, strict=True))), id)
        for id, values in zip(ids, zip(*columns, strict=True), strict=True)
    ]


def _finish(calls: list[tuple[Any, int]]) -> None:
    for call, shard in calls:
        answer(call, shard)
