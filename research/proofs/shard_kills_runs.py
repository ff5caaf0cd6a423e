"""What research/proofs/shard_kills.py runs in an environment that has gannet[ray]: its figures as JSON.

Not a script of its own: it has the arguments FOLDER, KILLS, NODES, SEED and PLACE, which is folder or objects.
"""
import collections
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
from gannet.ray._hashing import shard_of
from ray.cluster_utils import Cluster

# Of objects, a writer takes 64 MiB more to publish.
MEMORY = {"folder": "32MiB", "objects": "96MiB"}
READER, WRITER = "ShardReader", "ShardWriter"
SHARDS, NODES = 3, 3
ROWS = 600
NODE = {"num_cpus": 2, "node_ip_address": "127.0.0.1", "object_store_memory": 80 << 20}


def main(folder, kills, nodes, seed, place):
    chance = random.Random(int(seed))
    uri = Path(folder) / "index"
    if place == "objects":
        sys.path.append(str(Path(__file__).resolve().parents[2] / "python/tests"))
        from s3_server import S3Server

        # Before the processes of the cluster, which have it from here.
        os.environ.update(S3Server().environment)
        uri = "s3://soak/index"
    made = Cluster()
    try:
        quick = {"health_check_period_ms": 500, "health_check_failure_threshold": 3}
        made.add_node(**NODE, include_dashboard=False, _system_config=quick)
        for _ in range(NODES - 1):
            made.add_node(**NODE)
        ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
        ray.data.DataContext.get_current().enable_progress_bars = False
        print(json.dumps(Soak(made, uri, place, chance).run(events(int(kills), int(nodes), chance))))
    finally:
        ray.shutdown()
        made.shutdown()


def events(kills, nodes, chance):
    """What is broken, in order: every fifth kill is of a shard's two replicas at once."""
    pairs = kills // 5
    single = [chance.choice(["reader", "writer", "task"]) for _ in range(kills - 2 * pairs)]
    all = ["node"] * nodes + ["both replicas"] * pairs + single
    chance.shuffle(all)
    return all


class Ledger:
    """What has to be found at each epoch: how many documents of each write every shard has."""

    def __init__(self):
        self.documents = {}
        self.epochs = {}

    def commit(self, epoch, documents):
        counts = collections.Counter((shard_of(id, SHARDS), write) for id, write in documents.items())
        self.documents = documents
        self.epochs[epoch] = counts

    def newest(self, epoch):
        """The write that made this epoch."""
        return max((write for _, write in self.counts(epoch)), key=lambda name: int(name.removeprefix("write")))

    def expected(self, found, write=None):
        """How many documents an answer has to have, of all writes or one, in the shards that it has."""
        counts = self.counts(found.epoch)
        return sum(number for (shard, of), number in counts.items() if shard not in found.missing and write in (None, of))

    def counts(self, epoch):
        # The manifest is there just before the ledger is.
        end = time.monotonic() + 60
        while epoch not in self.epochs:
            if time.monotonic() > end:
                raise TimeoutError(f"no write says that it made epoch {epoch}")
            time.sleep(0.01)
        return self.epochs[epoch]


class Soak:
    def __init__(self, cluster, uri, place, chance):
        self.cluster, self.uri, self.chance = cluster, uri, chance
        self.memory = MEMORY[place]
        self.opening = {"memory": MEMORY["folder"], "cache_size": "32MiB" if place == "objects" else None}
        self.ledger = Ledger()
        self.ended = threading.Event()
        self.using = threading.Lock()
        self.writes = 0
        self.writing = None
        self.figures = {
            "events": [], "kills": 0, "wrong": [], "unexpected": [], "longest": 0.0,
            "searches": 0, "unavailable": 0, "told_partial": 0, "writes": 0, "writes_lost": 0,
        }

    def run(self, events):
        self.write()
        self.index = gannet.ray.open(self.uri, **self.opening)
        searching = threading.Thread(target=self.search)
        searching.start()
        for number, event in enumerate(events):
            self.event(event)
            print(f"[soak] {number + 1} of {len(events)}: {self.figures['events'][-1:]}", file=sys.stderr, flush=True)
        self.ended.set()
        searching.join()
        self.index.close()
        found = [row["id"] for row in gannet.ray.read(self.uri, "all", memory=self.memory).take_all()]
        wanted = self.ledger.documents
        differences = len(set(found) ^ set(wanted)) + len(found) - len(set(found))
        return self.figures | {"differences": differences, "documents": len(wanted)}

    def event(self, event):
        """Breaks something beside a write, and waits until all is whole again."""
        self.start_write()
        time.sleep(self.chance.uniform(0.1, 3.0))
        broken = {"node": self.lose_node, "both replicas": self.kill_shard}.get(event, lambda: self.kill(event))
        begun = time.monotonic()
        try:
            begun, what = broken()
        except Exception as error:
            self.unexpected(event, error)
            self.writing.join()
            return
        while not self.whole() and time.monotonic() - begun < 120:
            time.sleep(0.05)
        took = time.monotonic() - begun
        self.writing.join()
        self.figures["longest"] = max(self.figures["longest"], took)
        self.figures["events"].append({"what": event, **what, "seconds": round(took, 3)})
        if event == "node":
            # Whole again without it; another takes its place. Ray wants the main thread for that.
            self.cluster.add_node(**NODE)
            self.spread()
        try:
            self.index.refresh()
        except gannet.ray.UnavailableError:
            self.figures["unavailable"] += 1

    def start_write(self):
        self.writing = threading.Thread(target=self.write)
        self.writing.start()

    def spread(self):
        """Opens the index again, so that the new node has replicas, too."""
        before, opened = self.index, gannet.ray.open(self.uri, **self.opening)
        with self.using:
            self.index = opened
        before.close()

    def kill(self, event):
        """Kills a replica, a writer, or a worker that runs the write's tasks."""
        name = {"reader": READER, "writer": WRITER, "task": "MapBatches"}[event]
        self.at_work(name)
        return self.killed([self.chance.choice(sorted(self.running(name)))])

    def at_work(self, name):
        """Waits until there is such a process, and some of the time that it works."""
        self.running(name)
        time.sleep(self.chance.uniform(0, 1.5))

    def running(self, name):
        """The processes of this name, once there are any; another write starts where one ends before."""
        end = time.monotonic() + 120
        while not (found := processes(self.cluster, name)):
            if time.monotonic() > end:
                raise RuntimeError(f"no process {name} for 120 s")
            if not self.writing.is_alive():
                self.start_write()
            time.sleep(0.01)
        return found

    def kill_shard(self):
        """Kills both replicas of a shard at once."""
        actors = self.chance.choice(self.index._replicas.actors)
        return self.killed(ray.get([actor.__ray_call__.remote(lambda _: os.getpid()) for actor in actors]))

    def killed(self, victims):
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        self.figures["kills"] += len(victims)
        return time.monotonic(), {}

    def lose_node(self):
        """Ends all processes of a node that has a replica, and of two in three one that has a writer, too."""
        nodes = {node.all_processes["raylet"][0].process.pid: node for node in self.cluster.worker_nodes}
        wanted, end = [READER, WRITER] if self.chance.random() < 2 / 3 else [READER], time.monotonic() + 120
        self.at_work(wanted[-1])
        while not (could := set(nodes).intersection(*(self.running(name).values() for name in wanted))):
            if time.monotonic() > end:
                raise RuntimeError("no node has a replica and a writer for 120 s")
            time.sleep(0.01)
        lost = self.chance.choice(sorted(could))
        readers, writers = (list(processes(self.cluster, name).values()).count(lost) for name in (READER, WRITER))
        begun = time.monotonic()
        self.cluster.remove_node(nodes[lost], allow_graceful=False)
        return begun, {"replicas": readers, "writers": writers}

    def whole(self):
        """Whether every replica has its shard open."""
        replicas = sum(map(len, self.index._replicas.actors))
        # Those of a lost node may answer for a moment. No raylet that is left has them.
        if len(processes(self.cluster, READER)) != replicas:
            return False
        manifest = gannet.ray._manifest.need(gannet.ray._place.place_of(self.uri))
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
                wrote = gannet.ray.write(ds, self.uri, shards=SHARDS, memory=self.memory)
            except gannet.ray.WriteLostError:
                self.figures["writes_lost"] += 1
                manifest = gannet.ray._manifest.need(gannet.ray._place.place_of(self.uri))
                if manifest.documents != len(before):
                    self.figures["wrong"].append(f"{name} was lost, and the manifest changed")
            except Exception as error:
                self.unexpected("write", error)
            else:
                self.figures["writes"] += 1
                self.ledger.commit(wrote.epoch, before | dict.fromkeys(old + new, name))
                return

    def search(self):
        """Compares answers with the ledger, for as long as the soak goes on."""
        chance = random.Random(1)
        while not self.ended.is_set():
            partial = chance.random() < 0.5
            time.sleep(0.05)
            with self.using:
                self.compare(self.index, partial)

    def compare(self, index, partial):
        try:
            hits = index.search("body:all", count=True, timeout=10, partial=partial)
            write = self.ledger.newest(hits.epoch)
            of_newest = index.search(f"body:{write}", count=True, timeout=10, partial=partial)
        except gannet.ray.UnavailableError:
            self.figures["unavailable"] += 1
            return
        except Exception as error:
            self.unexpected("search", error)
            return
        for found, wanted in ((hits, self.ledger.expected(hits)), (of_newest, self.ledger.expected(of_newest, write))):
            self.figures["searches"] += 1
            self.figures["told_partial"] += found.is_partial
            if found.total != wanted:
                self.figures["wrong"].append(f"epoch {found.epoch} without {list(found.missing)}: {found.total}, not {wanted}")
            if len(set(found.ids)) != len(found):
                self.figures["wrong"].append("a document was there twice")

    def unexpected(self, what, error):
        self.figures["unexpected"].append(f"{what}: {type(error).__name__}: {str(error)[:300]}")


def slow(batch):
    """So that there is time to break something meanwhile."""
    time.sleep(0.2)
    return batch


def processes(cluster, name):
    """The processes of the cluster that run an actor of this class, or such a task, and the raylet of each."""
    raylets = {one.process.pid for node in cluster.list_all_nodes() for one in node.all_processes["raylet"]}
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes().decode(errors="replace")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent in raylets and title.startswith(f"ray::{name}"):
            found[int(folder.name)] = parent
    return found


if __name__ == "__main__":
    main(*sys.argv[1:])
