"""What measure/shard_kills.py runs in an environment that has gannet[ray]: its figures as JSON.

Not a script of its own: it has the arguments FOLDER, KILLS, NODES and SEED.
"""
import json
import os
import random
import signal
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

MEMORY = "32MB"
SHARDS, NODES = 3, 3
ROWS = 600
NODE = {"num_cpus": 2, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}


def main(folder, kills, nodes, seed):
    chance = random.Random(int(seed))
    events = ["node"] * int(nodes) + [chance.choice(["reader", "writer", "task"]) for _ in range(int(kills))]
    chance.shuffle(events)
    made = Cluster()
    try:
        quick = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
        made.add_node(**NODE, include_dashboard=False, _system_config=quick)
        for _ in range(NODES - 1):
            made.add_node(**NODE)
        ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        print(json.dumps(Soak(made, Path(folder) / "index", chance).run(events)))
    finally:
        ray.shutdown()
        made.shutdown()


class Ledger:
    """What has to be found at each epoch: the write that each document is of."""

    def __init__(self):
        self.lock = threading.Lock()
        self.documents = {}
        self.epochs = {}

    def commit(self, epoch, documents, write):
        with self.lock:
            self.documents = documents
            newest = sum(of == write for of in documents.values())
            self.epochs[epoch] = (len(documents), write, newest)


class Soak:
    def __init__(self, cluster, uri, chance):
        self.cluster, self.uri, self.chance = cluster, uri, chance
        self.ledger = Ledger()
        self.ended = threading.Event()
        self.writes = 0
        self.figures = {
            "events": [], "kills": 0, "nodes": 0, "wrong": [], "unexpected": [], "longest": 0.0,
            "searches": 0, "unavailable": 0, "told_partial": 0, "writes": 0, "writes_lost": 0,
        }

    def run(self, events):
        self.write()
        with gannet.ray.open(self.uri, memory=MEMORY) as index:
            self.index = index
            searching = threading.Thread(target=self.search)
            searching.start()
            for number, event in enumerate(events):
                self.event(event)
                print(f"[soak] {number + 1} of {len(events)}: {event}", file=sys.stderr, flush=True)
            self.ended.set()
            searching.join()
        found = [row["id"] for row in gannet.ray.read(self.uri, "all", memory=MEMORY).take_all()]
        wanted = self.ledger.documents
        differences = len(set(found) ^ set(wanted)) + len(found) - len(set(found))
        return self.figures | {"differences": differences, "documents": len(wanted)}

    def event(self, event):
        """Breaks something beside a write, and waits until all is whole again."""
        writing = threading.Thread(target=self.write)
        writing.start()
        time.sleep(self.chance.uniform(0.1, 3.0))
        begun = time.monotonic()
        try:
            broken = self.lose_node() if event == "node" else self.kill(event)
        except Exception as error:
            self.unexpected(event, error)
            broken = False
        while broken and not self.whole() and time.monotonic() - begun < 120:
            time.sleep(0.05)
        took = time.monotonic() - begun
        writing.join()
        if broken and event == "node":
            # Whole again without it; another takes its place. Ray wants the main thread for that.
            self.cluster.add_node(**NODE)
        if broken:
            self.figures["longest"] = max(self.figures["longest"], took)
            self.figures["events"].append({"what": event, "seconds": round(took, 3)})
        try:
            self.index.refresh()
        except gannet.ray.UnavailableError:
            self.figures["unavailable"] += 1

    def kill(self, event):
        """A process of the sort: an actor of a shard, or a worker that runs the write's tasks."""
        names = {"reader": "ShardReader", "writer": "ShardWriter", "task": "MapBatches"}
        end = time.monotonic() + 5
        while time.monotonic() < end:
            if victims := processes(self.cluster, names[event]):
                os.kill(self.chance.choice(victims), signal.SIGKILL)
                self.figures["kills"] += 1
                return True
            time.sleep(0.01)
        # The write was over: a reader is always there.
        os.kill(self.chance.choice(processes(self.cluster, "ShardReader")), signal.SIGKILL)
        self.figures["kills"] += 1
        return True

    def lose_node(self):
        node = self.chance.choice(list(self.cluster.worker_nodes))
        self.cluster.remove_node(node, allow_graceful=False)
        self.figures["nodes"] += 1
        return True

    def whole(self):
        """Whether every replica has its shard open."""
        replicas = sum(map(len, self.index._replicas.actors))
        # Those of a lost node may answer for a moment. No raylet that is left has them.
        if len(processes(self.cluster, "ShardReader")) != replicas:
            return False
        manifest = gannet.ray._manifest.need(gannet.ray._place.Place(self.uri))
        calls = [
            actor.load.remote(manifest.shards[shard], manifest.schema)
            for shard, some in enumerate(self.index._replicas.actors)
            for actor in some
        ]
        try:
            # A call to one that is started again waits: so short a time is what the figure is exact to.
            ray.get(calls, timeout=0.5)
            return True
        except (ray.exceptions.RayError, gannet.ExpiredError):
            return False

    def write(self):
        """Replaces documents and adds others, until that is done; a lost write changes nothing."""
        before, self.writes = self.ledger.documents, self.writes + 1
        name = f"write{self.writes}"
        old = self.chance.sample(sorted(before), min(len(before), ROWS // 2))
        new = [f"{name}-{place}" for place in range(ROWS - len(old))]
        rows = [{"id": id, "body": f"all {name} " + "text " * 20} for id in old + new]
        for _ in range(20):
            try:
                ds = ray.data.from_items(rows, override_num_blocks=4).map_batches(slow, batch_size=50)
                wrote = gannet.ray.write(ds, self.uri, shards=SHARDS, memory=MEMORY)
            except gannet.ray.WriteLostError:
                self.figures["writes_lost"] += 1
                manifest = gannet.ray._manifest.need(gannet.ray._place.Place(self.uri))
                if manifest.documents != len(before):
                    self.figures["wrong"].append(f"{name} was lost, and the manifest changed")
            except Exception as error:
                self.unexpected("write", error)
            else:
                self.figures["writes"] += 1
                self.ledger.commit(wrote.epoch, before | dict.fromkeys(old + new, name), name)
                return

    def search(self):
        """Compares answers with the ledger, for as long as the soak goes on."""
        chance = random.Random(1)
        while not self.ended.is_set():
            partial = chance.random() < 0.5
            time.sleep(0.05)
            try:
                hits = self.index.search("body:all", count=True, timeout=10, partial=partial)
                documents, write, newest = self.expected(hits.epoch)
                of_newest = self.index.search(f"body:{write}", count=True, timeout=10, partial=partial)
            except gannet.ray.UnavailableError:
                self.figures["unavailable"] += 1
                continue
            except Exception as error:
                self.unexpected("search", error)
                continue
            self.figures["searches"] += 2
            for found, total in ((hits, documents), (of_newest, newest)):
                if found.is_partial:
                    self.figures["told_partial"] += 1
                elif found.epoch == hits.epoch and found.total != total:
                    self.figures["wrong"].append(f"epoch {found.epoch}: {found.total}, not {total}")
                if len(set(found.ids)) != len(found):
                    self.figures["wrong"].append("a document was there twice")

    def expected(self, epoch):
        # The manifest is there just before the ledger is.
        while epoch not in self.ledger.epochs:
            time.sleep(0.01)
        return self.ledger.epochs[epoch]

    def unexpected(self, what, error):
        self.figures["unexpected"].append(f"{what}: {type(error).__name__}: {str(error)[:300]}")


def slow(batch):
    """So that there is time to break something meanwhile."""
    time.sleep(0.2)
    return batch


def processes(cluster, name):
    """The processes of the cluster that run an actor of this class, or such a task."""
    raylets = {one.process.pid for node in cluster.list_all_nodes() for one in node.all_processes["raylet"]}
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes().decode(errors="replace")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent in raylets and title.startswith(f"ray::{name}"):
            found.append(int(folder.name))
    return sorted(found)


if __name__ == "__main__":
    main(*sys.argv[1:])
