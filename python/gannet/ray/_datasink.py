"""Rows of a Dataset on their way to the shards.

Only writing imports this module: `ray.data` takes a second, which readers need not wait for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ._ray import imported
from ._sending import MOST_BYTES, Sender, check_columns
from ._writer import Job
from ._writing import answer

_ray_data: Any = imported("ray.data")

_MOST_BYTES = MOST_BYTES


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
            check_columns(list(schema.names), self._job.id)

    def write(self, blocks: Iterable[Any], ctx: Any) -> int:
        sender = Sender(self._job, self._writers, answer, _MOST_BYTES)
        for block in blocks:
            sender.add(_ray_data.block.BlockAccessor.for_block(block).to_arrow())
        return sender.end()
