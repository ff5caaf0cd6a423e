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
from ._writing import answer

_ray_data: Any = imported("ray.data")
_pyarrow: Any = imported("pyarrow")

_MOST_BYTES = 32 << 20
"""Bytes of rows that are sent together: each call costs a writer a sync."""

_MOST_ROWS = 1 << 16
"""The most rows that are sent together, however small."""


class GannetDatasink(_ray_data.Datasink):  # type: ignore[misc]  # Ray is Any here.
    """Sends rows to the writers. The manifest is left to the caller, after the last task.

    No smallest size of a write is named: so Ray writes in the task that makes the rows, which
    need not go through its store.
    """

    def __init__(self, job: Job, writers: list[Any]) -> None:
        self._job = job
        self._writers = writers

    def on_write_start(self, schema: Any = None) -> None:
        if schema is not None:
            _check_columns(list(schema.names), self._job.id)

    def write(self, blocks: Iterable[Any], ctx: Any) -> int:
        sender = _Sender(self._job, self._writers)
        for block in blocks:
            sender.add(block)
        return sender.end()


def _check_columns(names: list[str], id: str) -> None:
    if id not in names:
        raise InvalidError(
            f'the rows have no column "{id}" for their IDs, but {names[:20]}: name it with id=. '
            "A row needs an ID since Ray may run a task twice"
        )


class _Sender:
    """The rows of one task. The writers work on some while the next are made."""

    def __init__(self, job: Job, writers: list[Any]) -> None:
        self._job = job
        self._writers = writers
        self._rows = 0
        self._tables: list[Any] = []
        self._bytes = 0
        self._under_way: list[tuple[Any, int]] = []

    def add(self, block: Any) -> None:
        """Sends the rows of a block, or keeps them for the next; small blocks go together."""
        table = _ray_data.block.BlockAccessor.for_block(block).to_arrow()
        if table.num_rows == 0:
            return
        _check_columns(table.column_names, self._job.id)
        if self._tables and not self._tables[0].schema.equals(table.schema):
            self._send()
        self._tables.append(table)
        self._rows += table.num_rows
        self._bytes += table.nbytes
        if self._bytes >= _MOST_BYTES:
            self._send()

    def end(self) -> int:
        """Waits until all rows are durable; how many there were."""
        self._send()
        _finish(self._under_way)
        return self._rows

    def _send(self) -> None:
        if not self._tables:
            return
        # In one piece, of which rows are taken much faster.
        table = _pyarrow.concat_tables(self._tables).combine_chunks()
        self._tables, self._bytes = [], 0
        each = max(table.nbytes // table.num_rows, 1)
        step = max(1, min(_MOST_BYTES // each, _MOST_ROWS))
        for start in range(0, table.num_rows, step):
            before = self._under_way
            self._under_way = _sent(table.slice(start, step), self._job, self._writers)
            _finish(before)


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
