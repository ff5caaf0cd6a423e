"""A write from the lock to the manifest: all or nothing."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Self

from .._errors import InvalidError
from .._native import MEMORY_MIN, number_of_bytes
from . import _manifest
from ._errors import WriteLostError
from ._here import MOST_BYTES, HereWriter
from ._manifest import Manifest
from ._place import Place, place_of
from ._ray import connected, live_nodes, on_node, own_error, ray, ray_errors
from ._writer import Job, Published, ShardWriter, WriterOptions

SHARDS = 8
"""How many shards a new index gets unless told otherwise."""

IDS = 8192
"""IDs that a writer gets at once, to delete them."""

_RESTARTS = 4
"""How often the writer of a shard may be killed within one write."""


class Writing:
    """Holds the lock and has an actor for each shard until its block ends."""

    def __init__(
        self,
        uri: str | os.PathLike[str],
        options: WriterOptions,
        *,
        shards: int | None = None,
        id: str | None = None,
        is_small: bool = False,
    ) -> None:
        if shards is not None and not 1 <= shards <= 10_000:
            raise InvalidError(f"shards={shards}: expected a number from 1 to 10000")
        self._place = place_of(uri)
        self._options = replace(options, memory=_of_the_index(self._place, options.memory))
        self._shards, self._id = shards, id
        self._is_small = is_small
        self._held = ExitStack()
        self.writers: list[Any] = []

    def __enter__(self) -> Self:
        connected()
        self._held.enter_context(self._place.locked())
        try:
            self.before = _manifest.load(self._place)
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_exception: object) -> None:
        self._stop()

    @property
    def job(self) -> Job:
        return self._job

    def commit(self) -> Manifest:
        """Publishes each shard and then, at once, all of them."""
        try:
            done = asked([writer.publish.remote() for writer in self.writers])
            schema = _common_schema(done)
        except BaseException:
            self._place.remove([self.job.state(shard) for shard in range(len(self.writers))])
            raise
        shards = tuple(one.shard for one in done)
        manifest = Manifest(self.job.epoch, self.job.id, schema, shards)
        if self.before is not None and manifest.shards == self.before.shards:
            return self.before
        _manifest.replace(self._place, manifest)
        # Readers of the state before may need it until they refresh.
        kept = manifest.states.union(self.before.states if self.before else ())
        self._place.sweep(kept, manifest.epoch)
        return manifest

    def _start(self) -> None:
        before = self.before
        number, id = _agreed(self._place, before, self._shards, self._id)
        write = uuid.uuid4().hex[:12]
        epoch = before.epoch + 1 if before else 1
        self._job = Job(self._place.uri, write, epoch, id, self._options)
        if self._is_small and _bytes(before) <= MOST_BYTES:
            self.writers = [
                HereWriter(self._job, shard, before.shards[shard] if before else None)
                for shard in range(number)
            ]
            return
        actor = ray.remote(max_restarts=_RESTARTS, max_task_retries=-1)(ShardWriter)
        nodes = live_nodes()
        for shard in range(number):
            placed = actor.options(**on_node(nodes[shard % len(nodes)]))
            state = before.shards[shard] if before else None
            self.writers.append(placed.remote(self._job, shard, state))
        asked([writer.start.remote() for writer in self.writers])

    def _stop(self) -> None:
        try:
            actors = [writer for writer in self.writers if not isinstance(writer, HereWriter)]
            closing = [actor.close.remote() for actor in actors]
            ray.wait(closing, num_returns=len(closing), timeout=10.0) if closing else None
            for actor in actors:
                ray.kill(actor)
        finally:
            self.writers = []
            self._held.close()


def asked(calls: list[Any]) -> list[Any]:
    """The answers of one call to each writer, in the order of the shards."""
    return [answer(call, shard) for shard, call in enumerate(calls)]


def answer(call: Any, shard: int) -> Any:
    """The answer of the writer of a shard, which one in this process has given already."""
    if not isinstance(call, ray.ObjectRef):
        return call
    try:
        return ray.get(call)
    except ray_errors.RayActorError as error:
        reason = str(error).strip().partition("\n")[0]
        raise WriteLostError(
            f"shard {shard}: its writer ended, and with it the rows of this write ({reason}): "
            "the index is as it was before; write again"
        ) from None
    except ray_errors.RayError as error:
        own = own_error(error)
        if own is None:
            raise
        # What Ray says of its processes is of no use to who wrote.
        raise own from None


def _bytes(before: Manifest | None) -> int:
    return sum(shard.bytes for shard in before.shards) if before else 0


def _of_the_index(place: Place, memory: int | str) -> int:
    """What the index of a writer gets of its budget; publishing takes the rest."""
    budget, beside = number_of_bytes(memory), place.memory_to_publish
    # Of less than an index needs the engine tells.
    if beside and budget < MEMORY_MIN + beside:
        raise InvalidError(
            f"memory={memory!r}: the writer of a shard needs {MEMORY_MIN >> 20} MiB for its index "
            f"and {beside >> 20} MiB to publish it: give {(MEMORY_MIN + beside) >> 20} MiB or more"
        )
    return budget - beside


def _agreed(
    place: Place, before: Manifest | None, shards: int | None, id: str | None
) -> tuple[int, str]:
    """The number of shards and the column of IDs, which the first write decides."""
    if before is None:
        return shards or SHARDS, id or "id"
    there = len(before.shards)
    if shards not in (None, there):
        raise InvalidError(
            f"{place.uri} has {there} shards, and shards={shards} was given: leave it out, "
            "or write the index again into an empty place"
        )
    if id not in (None, before.id):
        raise InvalidError(
            f'{place.uri} has its IDs in the column "{before.id}", and id="{id}" was given: '
            "rename the column of the rows"
        )
    return there, before.id


def _common_schema(done: Iterable[Published]) -> dict[str, str]:
    """The fields of all shards, which have to agree."""
    schema: dict[str, tuple[str, int]] = {}
    for shard, one in enumerate(done):
        for name, kind in one.fields.items():
            known, first = schema.setdefault(name, (kind, shard))
            if known != kind:
                raise InvalidError(
                    f'field "{name}" is {known} in shard {first} and {kind} in shard {shard}: '
                    f'give its values one type in all rows, or analyzers={{"{name}": "keyword"}}'
                )
    return {name: kind for name, (kind, _) in schema.items()}
