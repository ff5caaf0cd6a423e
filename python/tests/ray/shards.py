"""What the tests of shards share: documents, queries, processes of the cluster."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ray.data

import gannet
import gannet.ray

MEMORY = "32MiB"

WORDS = [f"{start}{end}" for start in ("wha", "ship", "sea", "cap", "har") for end in "abcdefghij"]


def documents(number: int, seed: int = 1) -> list[dict[str, Any]]:
    """Documents with common and rare words; each seventh has the text of the one before."""
    chance = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    made: list[dict[str, Any]] = []
    for place in range(number):
        length = chance.choice([3, 8, 8, 20])
        one = {
            "id": f"d{place}",
            "title": " ".join(chance.choices(WORDS, weights, k=2)),
            "body": " ".join(chance.choices(WORDS, weights, k=length)),
            "kind": chance.choice(["novel", "letter", "log"]),
        }
        if made and place % 7 == 0:
            one = made[-1] | {"id": one["id"]}
        made.append(one)
    return made


def questions(number: int, seed: int = 2) -> list[str]:
    """Queries of all sorts over the words of `documents`."""
    chance = random.Random(seed)

    def words(most: int) -> list[str]:
        return chance.choices(WORDS, k=chance.randint(1, most))

    makers: list[Callable[[], str]] = [
        lambda: " ".join(words(4)),
        lambda: " ".join("+" + word for word in words(2)),
        lambda: '"' + " ".join([chance.choice(WORDS[:12]), chance.choice(WORDS[:12])]) + '"',
        lambda: f"{chance.choice(['wha', 'ship', 'se'])}* {chance.choice(WORDS)}",
        lambda: f"title:{chance.choice(WORDS)} body:{chance.choice(WORDS)}",
        lambda: f"{chance.choice(WORDS)} -{chance.choice(WORDS)}",
        lambda: f"+kind:{chance.choice(['novel', 'log'])} {chance.choice(WORDS)}",
        lambda: "nothingofthesort " + chance.choice(WORDS),
    ]
    return [makers[place % len(makers)]() for place in range(number)]


def dataset(rows: list[dict[str, Any]], blocks: int = 4) -> Any:
    return ray.data.from_items(rows, override_num_blocks=blocks)


def write(rows: list[dict[str, Any]], uri: Path | str, **options: Any) -> gannet.ray.Wrote:
    # To publish takes 64 MiB more.
    memory = "96MiB" if isinstance(uri, str) else MEMORY
    given: dict[str, Any] = {"memory": memory} | options
    return gannet.ray.write(dataset(rows), uri, **given)


def ids_in(uri: Path | str) -> set[str]:
    """The IDs of all documents that a manifest names, each of which has to be there once."""
    rows = gannet.ray.read(uri, "*", memory=MEMORY).take_all()
    found = [row["id"] for row in rows]
    assert len(found) == len(set(found))
    return set(found)


def states_in(uri: Path) -> list[str]:
    """The folders of states that a place has."""
    return sorted(f"{one.parent.name}/{one.name}" for one in (uri / "shards").glob("*/*"))


def pid_of(actor: Any) -> int:
    return int(ray.get(actor.__ray_call__.remote(lambda _: os.getpid())))


def replica(index: gannet.ray.ShardedIndex, shard: int, number: int) -> Any:
    """The actor of a replica."""
    replicas = index._replicas
    assert replicas is not None
    return replicas.actors[shard][number]


def processes(cluster: Any, name: str) -> list[int]:
    """The processes of the cluster that run an actor of this class, or a task."""
    raylets = {
        one.process.pid for node in cluster.list_all_nodes() for one in node.all_processes["raylet"]
    }
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes().decode(errors="replace")
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
        if parent in raylets and title.startswith(f"ray::{name}"):
            found.append(int(folder.name))
    return sorted(found)


def kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)


def eventually(holds: Callable[[], bool], seconds: float = 20.0) -> float:
    """Waits until something holds; how long that took."""
    begun = time.monotonic()
    while not holds():
        assert time.monotonic() - begun < seconds, "it does not hold after all this time"
        time.sleep(0.05)
    return time.monotonic() - begun
