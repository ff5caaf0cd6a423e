"""Indexes of more text than one machine has: shards that Ray places, restarts and routes to.

    import gannet.ray

    gannet.ray.write(ds, "/mnt/shared/wiki", shards=8, id="id")
    with gannet.ray.open("/mnt/shared/wiki", replicas=2) as index:
        for hit in index.search("whale"):
            print(hit.id, hit.score, hit["title"])
"""

from __future__ import annotations

from ._datasets import Searcher, read
from ._errors import UnavailableError, WriteLostError
from ._hits import ShardedHit, ShardedHits, ShardedRankings
from ._index import ShardedIndex
from ._opening import open
from ._serve import serve_app
from ._write import Wrote, delete, write

__all__ = [
    "Searcher",
    "ShardedHit",
    "ShardedHits",
    "ShardedIndex",
    "ShardedRankings",
    "UnavailableError",
    "WriteLostError",
    "Wrote",
    "delete",
    "open",
    "read",
    "serve_app",
    "write",
]
