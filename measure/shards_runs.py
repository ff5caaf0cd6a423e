"""What measure/shards.py runs in an environment that has gannet[ray]: its figures as JSON.

Not a script of its own: it has the arguments FOLDER, FILE, QUERIES, SHARDS, NODES and SINGLE.
"""
import contextlib
import json
import math
import os
import sys
import time
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # All is bound to 127.0.0.1.

import gannet
import gannet.ray
import ray
import ray.data
from ray.cluster_utils import Cluster

MEMORY = "256MB"
DEPTH = 10
AT_ONCE = 1000


def main(folder, file, log, shards, nodes, single):
    folder, rows = Path(folder), []
    queries = Path(log).read_text(encoding="utf-8").splitlines()
    begun = time.perf_counter()
    with gannet.open(folder / "one.gnt", memory=MEMORY) as one:
        documents = one.add(file).added
    rows.append({"what": "one process", "documents": documents, "seconds": time.perf_counter() - begun})
    with cluster(int(nodes)):
        begun = time.perf_counter()
        ds = ray.data.read_json(file)
        wrote = gannet.ray.write(ds, folder / "shards", shards=int(shards), memory=MEMORY)
        rows.append({"what": "ray", "documents": wrote.documents, "seconds": time.perf_counter() - begun})
        with (
            gannet.open(folder / "one.gnt", memory=MEMORY, read_only=True) as one,
            gannet.ray.open(folder / "shards", memory=MEMORY) as index,
        ):
            different, answered, examples = compare(one, index, queries)
            rows += singles(one, index, queries[:: max(len(queries) // int(single), 1)])
    print(json.dumps({"rows": rows, "different": different, "answered": answered, "examples": examples}))


@contextlib.contextmanager
def cluster(nodes):
    made = Cluster()
    node = {"num_cpus": 2, "node_ip_address": "127.0.0.1", "object_store_memory": 300 << 20}
    try:
        for number in range(nodes):
            made.add_node(**node, **({} if number else {"include_dashboard": False}))
        ray.init(address=made.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


def compare(one, index, queries):
    """How many answers differ, how many queries found something, the first few that differ."""
    answered, examples, different = 0, [], 0
    for start in range(0, len(queries), AT_ONCE):
        some = queries[start : start + AT_ONCE]
        wanted = one.search_many(some, DEPTH, ties="id")
        found = index.search_many(some, DEPTH)
        for place, query in enumerate(some):
            expected, answer = wanted[place], found[str(place)]
            same = [id for id, _ in expected] == [id for id, _ in answer] and all(
                math.isclose(a, b, rel_tol=1e-5) for (_, a), (_, b) in zip(expected, answer)
            )
            answered += bool(expected)
            different += not same
            if not same and len(examples) < 5:
                examples.append([query, expected[:3], answer[:3]])
    return different, answered, examples


def singles(one, index, queries):
    """Both in turn, each with the documents of its answer."""
    rows = []
    for what in (one, index):
        what.search_many(queries, DEPTH)  # Both are warm.
    for query in queries:
        for what, searched in (("one", one), ("shards", index)):
            begun = time.perf_counter()
            hits = searched.search(query, DEPTH)
            for hit in hits:
                hit.source
            rows.append({"what": what, "milliseconds": 1e3 * (time.perf_counter() - begun), "hits": len(hits)})
    return rows


if __name__ == "__main__":
    main(*sys.argv[1:])
