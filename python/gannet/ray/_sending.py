"""Rows on their way to the writers of their shards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._errors import InvalidError
from ._contents import line
from ._hashing import content_digest, id_text, shard_of
from ._ray import imported
from ._writer import Job

_pyarrow: Any = imported("pyarrow")

MOST_BYTES = 32 << 20
"""Bytes of rows that are sent together: each call costs a writer a sync."""

_MOST_ROWS = 1 << 16
"""The most rows that are sent together, however small."""


def check_columns(names: list[str], id: str) -> None:
    if id not in names:
        raise InvalidError(
            f'the rows have no column "{id}" for their IDs, but {names[:20]}: name it with id=. '
            "A row needs an ID since Ray may run a task twice"
        )


class Sender:
    """The rows of one task. The writers work on some while the next are made."""

    def __init__(
        self,
        job: Job,
        writers: list[Any],
        answer: Callable[[Any, int], Any],
        most_bytes: int,
    ) -> None:
        self._job = job
        self._writers = writers
        self._answer = answer
        self._most_bytes = most_bytes
        self._rows = 0
        self._tables: list[Any] = []
        self._bytes = 0
        self._under_way: list[tuple[Any, int]] = []

    def add(self, table: Any) -> None:
        """Sends the rows of a table, or keeps them for the next; small ones go together."""
        if table.num_rows == 0:
            return
        check_columns(table.column_names, self._job.id)
        if self._tables and not self._tables[0].schema.equals(table.schema):
            self._send()
        self._tables.append(table)
        self._rows += table.num_rows
        self._bytes += table.nbytes
        if self._bytes >= self._most_bytes:
            self._send()

    def end(self) -> int:
        """Waits until all rows are durable; how many there were."""
        self._send()
        self._finish(self._under_way)
        return self._rows

    def _send(self) -> None:
        if not self._tables:
            return
        # In one piece, of which rows are taken much faster.
        table = _pyarrow.concat_tables(self._tables).combine_chunks()
        self._tables, self._bytes = [], 0
        each = max(table.nbytes // table.num_rows, 1)
        step = max(1, min(self._most_bytes // each, _MOST_ROWS))
        for start in range(0, table.num_rows, step):
            before = self._under_way
            self._under_way = _sent(table.slice(start, step), self._job, self._writers)
            self._finish(before)

    def _finish(self, calls: list[tuple[Any, int]]) -> None:
        for call, shard in calls:
            self._answer(call, shard)


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
