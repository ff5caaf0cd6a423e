"""What research/proofs/shards.py runs in an environment that has gannet[ray]: its figures as JSON.

Not a script of its own: it has the arguments FOLDER, FILE, QUERIES, SHARDS, NODES, MEMORY in MB and
SINGLE.
"""
import contextlib
import json
import math
import os
import sys
import threading
import time
from pathlib import Path

os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"  # All is bound to 127.0.0.1.

import gannet
import gannet.ray
import ray
import ray.data
from ray.cluster_utils import Cluster

DEPTH = 10
AT_ONCE = 1000


def main(folder, file, log, shards, nodes, memory, single):
    folder, rows, shards, memory = Path(folder), [], int(shards), int(memory)
    whole, part = f"{memory}MB", f"{memory // shards}MB"
    # Half of it is for the next state.
    replica = f"{2 * memory // shards}MB"
    Path(file).read_bytes()  # Into the page cache.
    queries = Path(log).read_text(encoding="utf-8").splitlines()
    with processors() as used:
        begun = time.perf_counter()
        with gannet.open(folder / "one.gnt", memory=whole) as one:
            documents = one.add(file).added
        taken = time.perf_counter() - begun
    rows.append({"what": "one process", "documents": documents, "seconds": taken, "processor_seconds": used})
    with cluster(int(nodes)):
        begun = time.perf_counter()
        gannet.ray.write(ray.data.from_items([{"id": "1", "body": "one"}]), folder / "small", shards=shards, memory=part)
        rows.append({"what": "ray, one document", "documents": 1, "seconds": time.perf_counter() - begun})
        # The task that reads the file writes it, too; and as Ray splits it.
        rows.append(written("ray", file, folder / "shards", shards, part, override_num_blocks=1))
        rows.append(written("ray, split by Ray", file, folder / "split", shards, part))
        with (
            gannet.open(folder / "one.gnt", memory=whole, read_only=True) as one,
            gannet.ray.open(folder / "shards", memory=replica) as index,
        ):
            different, answered, examples = compare(one, index, queries)
            some = queries[:: max(len(queries) // int(single), 1)]
            rows += singles(one, index, some)
            rows += [empty_round(index) for _ in some]
            different += sum(not same(answer(one, query, ties="id"), answer(index, query)) for query in some)
        with gannet.ray.open(folder / "shards", memory=replica) as index:
            # Replicas that know nothing of terms yet, and have no page in memory.
            rows += [timed("shards, just opened", index, query) for query in some]
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


def written(what, file, to, shards, memory, **reading):
    """A write of a whole file."""
    with processors() as used:
        begun = time.perf_counter()
        wrote = gannet.ray.write(ray.data.read_json(file, **reading), to, shards=shards, memory=memory)
        taken = time.perf_counter() - begun
    return {"what": what, "documents": wrote.documents, "seconds": taken, "processor_seconds": used}


@contextlib.contextmanager
def processors():
    """Seconds of processor time of the processes below this one, by kind, while the block runs.

    Each process is looked at twice a second, since writers end with the write. What it takes after
    the last look is lost: the sums are lower bounds.
    """
    before, seen, ended, watching = dict(looked_at()), {}, threading.Event(), []

    def watch():
        while not ended.wait(0.5):
            seen.update(looked_at())
        watching.append(time.thread_time())

    watcher = threading.Thread(target=watch)
    watcher.start()
    sums = {}
    try:
        yield sums
    finally:
        ended.set()
        watcher.join()
        seen.update(looked_at())
        begun = {process: seconds for (process, _), seconds in before.items()}
        latest = {}
        for (process, kind), seconds in seen.items():
            # Ray renames its workers: all of a process goes to its latest name.
            latest[process] = max(latest.get(process, (0, "")), (seconds, kind))
        for process, (seconds, kind) in latest.items():
            sums[kind] = round(sums.get(kind, 0) + seconds - begun.get(process, 0), 2)
        sums["this process"] = round(sums["this process"] - watching[0], 2)


def looked_at():
    """Process and kind with its processor time so far, of this process and all below it."""
    tick, parents, found = os.sysconf("SC_CLK_TCK"), {}, {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            stat = (entry / "stat").read_text().rpartition(")")[2].split()
            parents[int(entry.name)] = int(stat[1])
            found[int(entry.name)] = ((entry / "cmdline").read_bytes(), (int(stat[11]) + int(stat[12])) / tick)
    for process, (command, seconds) in found.items():
        if process == os.getpid():
            yield (process, "this process"), seconds
        elif is_below(process, parents):
            kind = "writers" if command.startswith(b"ray::ShardWriter") else "tasks" if command.startswith(b"ray::") else "Ray"
            yield (process, kind), seconds


def is_below(process, parents):
    """Whether this process started it, or one that it started."""
    while process in parents:
        process = parents[process]
        if process == os.getpid():
            return True
    return False


def compare(one, index, queries):
    """How many answers differ, how many queries found something, the first few that differ."""
    answered, examples, different = 0, [], 0
    for start in range(0, len(queries), AT_ONCE):
        some = queries[start : start + AT_ONCE]
        wanted = one.search_many(some, DEPTH, ties="id")
        found = index.search_many(some, DEPTH)
        for place, query in enumerate(some):
            expected, got = wanted[place], found[str(place)]
            answered += bool(expected)
            different += not same(expected, got)
            if not same(expected, got) and len(examples) < 5:
                examples.append([query, expected[:3], got[:3]])
    return different, answered, examples


def same(expected, answer):
    """Whether IDs and scores are equal."""
    return [id for id, _ in expected] == [id for id, _ in answer] and all(
        math.isclose(a, b, rel_tol=1e-5) for (_, a), (_, b) in zip(expected, answer)
    )


def answer(searched, query, **options):
    """IDs and scores of one search."""
    hits = searched.search(query, DEPTH, **options)
    return list(zip(hits.ids, hits.scores))


def singles(one, index, queries):
    """Both in turn."""
    for what in (one, index, index):
        what.search_many(queries, DEPTH)  # All are warm: replicas take turns.
    asked = (("one", one, {"ties": "id"}), ("shards", index, {}))  # Shards have ties by ID always.
    return [timed(what, searched, query, **options) for query in queries for what, searched, options in asked]


def empty_round(index):
    """One call to each shard that does nothing: what Ray takes of a search."""
    actors = [replicas[0] for replicas in index._replicas.actors]
    begun = time.perf_counter()
    ray.get([actor.ping.remote() for actor in actors])
    return {"what": "empty round", "milliseconds": 1e3 * (time.perf_counter() - begun)}


def timed(what, searched, query, **options):
    """One search with the documents of its answer."""
    begun = time.perf_counter()
    hits = searched.search(query, DEPTH, **options)
    for hit in hits:
        hit.source
    return {"what": what, "milliseconds": 1e3 * (time.perf_counter() - begun), "hits": len(hits)}


if __name__ == "__main__":
    main(*sys.argv[1:])
