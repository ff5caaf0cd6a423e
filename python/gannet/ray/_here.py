"""Small writes, which this process carries out: to start an actor for each shard takes longer.

Here the writers of all shards take turns, so that one index is open at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._manifest import Shard
from ._writer import Job, Published, ShardWriter

MOST_BYTES = 64 << 20
"""Bytes of an index before the write, and of rows: what is larger is left to actors."""


class _Method:
    """A method that is called like that of an actor, and gives its answer at once."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.remote = method


class HereWriter:
    """Keeps what its shard gets, and writes it when it is published."""

    def __init__(self, job: Job, number: int, before: Shard | None) -> None:
        self._made = job, number, before
        self._steps: list[Callable[[ShardWriter], object]] = []
        self.start = _Method(lambda: None)
        self.add = _Method(self._add)
        self.delete = _Method(self._delete)
        self.publish = _Method(self._publish)

    def _add(self, rows: Any, lines: str) -> None:
        self._steps.append(lambda writer: writer.add(rows, lines))

    def _delete(self, ids: list[str]) -> None:
        self._steps.append(lambda writer: writer.delete(ids))

    def _publish(self) -> Published:
        writer = ShardWriter(*self._made)
        try:
            writer.start()
            for step in self._steps:
                step(writer)
            return writer.publish()
        finally:
            writer.close()
