"""Opening a sharded index: an actor for each replica of each shard."""

from __future__ import annotations

import os
from typing import Any

from .._errors import InvalidError
from .._native import number_of_bytes
from . import _manifest
from ._index import ShardedIndex
from ._place import place_of
from ._ray import connected, live_nodes, on_node, ray
from ._reader import LEAST_MEMORY, THREADS, ReaderOptions, ShardReader
from ._router import Replicas


def open(
    uri: str | os.PathLike[str],
    *,
    replicas: int | None = None,
    memory: int | str = "512MB",
    hedge: float = 0.1,
    cache_size: int | str | None = None,
    local: str | os.PathLike[str] | None = None,
) -> ShardedIndex:
    """Opens the sharded index in a shared folder or on object storage for searching.

    Each replica of a shard is an actor, which copies the shard to the local disk of its node, or
    reads it where it is with a cache there.

    - `replicas` of each shard are on different nodes: 2, or 1 in a cluster of one node.
    - `memory` is the budget of each replica, 32 MiB or more. Half of it is for what is searched,
      and half for the state of the shard that takes its place at the next `refresh`.
    - `hedge` is after how many seconds without an answer another replica is asked too.
    - `cache_size` is how many bytes of the local disk each replica takes for pages of its shard,
      half of it for each of two states. Without it, replicas copy their shard.
    - `local` is a folder on the local disk of each node; that for temporary files otherwise.
    """
    connected()
    place = place_of(uri)
    manifest = _manifest.need(place)
    nodes = live_nodes()
    number = min(2, len(nodes)) if replicas is None else replicas
    if not 1 <= number <= len(nodes):
        raise InvalidError(
            f"replicas={number}: the replicas of a shard are on different nodes, and the cluster "
            f"has {len(nodes)}: give a number from 1 to {len(nodes)}, or add nodes"
        )
    options = ReaderOptions(
        _budget(memory),
        None if cache_size is None else number_of_bytes(cache_size),
        None if local is None else os.fspath(local),
    )
    # A call is not repeated: another replica is asked.
    actor = ray.remote(max_restarts=-1, max_task_retries=0, max_concurrency=THREADS)(ShardReader)

    def start(shard: int, replica: int) -> Any:
        node = nodes[(shard + replica) % len(nodes)]
        placed = actor.options(**on_node(node))
        return placed.remote(place.uri, shard, manifest.shards[shard].state, options)

    shards = range(len(manifest.shards))
    actors = [[start(shard, replica) for replica in range(number)] for shard in shards]
    index = ShardedIndex(place.uri, Replicas(actors, hedge), manifest, owns=True)
    try:
        index.load(manifest)
    except BaseException:
        index.close()
        raise
    return index


def _budget(memory: int | str) -> int:
    budget = number_of_bytes(memory)
    if budget < LEAST_MEMORY:
        raise InvalidError(
            f"memory={memory!r}: a replica opens two states of its shard, each within half of "
            "that, and an index needs 16 MiB: give 32 MiB or more"
        )
    return budget
