"""A writer or a reader in a process of its own, for `test_readers.py` and research/proofs/python_readers.py.

It runs in an environment that has the package. The writer replaces all documents again and again, each time in an atomic
batch that gives them the same number. So a state is whole when all documents are there once and
have one number, and a reader that sees something else saw a mixed state.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import gannet

MEMORY = "32MiB"
# Of each so many generations, one is followed by a vacuum and one by a rebuild.
ROUND, VACUUM, REBUILD = 12, 5, 9


def write(folder: str, documents: str, stop: str) -> dict[str, Any]:
    """Writes generations until it is told to stop; each is followed by a checkpoint."""
    done: dict[str, Any] = {"who": "writer", "generations": 0, "checkpoints": 0, "vacuums": 0, "rebuilds": 0, "errors": []}
    index, end = Path(folder), Path(stop)
    with gannet.open(index, memory=MEMORY) as ix:
        while not end.exists():
            number = done["generations"] + 1
            with ix.batch() as batch:
                for document in range(int(documents)):
                    batch.add({"id": str(document), "body": f"all gen{number} part{document % 7}", "number": number})
            ix.checkpoint()
            done["generations"], done["checkpoints"] = number, done["checkpoints"] + 1
            if number % ROUND == VACUUM:
                ix.vacuum()
                done["vacuums"] += 1
            if number % ROUND == REBUILD:
                ix.rebuild()
                done["rebuilds"] += 1
            if number == 1:
                index.with_name(f"{index.name}.ready").touch()
            time.sleep(0.1)
    return done


def read(index: str, documents: str, queries: str) -> dict[str, Any]:
    """Asks so many queries, of the newest state each time that eight were asked."""
    count, wanted, seed = int(documents), int(queries), random.Random(1)
    done: dict[str, Any] = {"who": "reader", "queries": 0, "states": 0, "mixed": 0, "back": 0, "expired": 0, "errors": []}
    last = 0
    with gannet.open(index, memory=MEMORY, read_only=True) as ix:
        while done["queries"] < wanted:
            try:
                if done["queries"] % 8 == 0:
                    ix.refresh()
                with ix.snapshot() as snapshot:
                    # Two queries of one snapshot have to agree, too.
                    numbers = seen(snapshot, count, seed)
            except gannet.ExpiredError:
                done["expired"] += 1
                ix.refresh()
                continue
            except gannet.GannetError as error:
                done["errors"].append(f"{type(error).__name__}: {error}")
                if len(done["errors"]) > 10:
                    break
                continue
            done["queries"] += 2
            number = numbers.pop()
            if numbers or number is None:
                done["mixed"] += 1
                continue
            done["back"] += number < last
            done["states"] += number != last
            last = max(last, number)
    return done


def seen(snapshot: gannet.Snapshot, documents: int, seed: random.Random) -> set[int | None]:
    """The numbers that two queries of a snapshot saw; more than one where documents are missing."""
    part = seed.randrange(7)
    hits = snapshot.search(f"part{part}", k=20, count=True)
    numbers: set[int | None] = {hit["number"] for hit in hits}
    if hits.total != len(range(part, documents, 7)) or len(snapshot) != documents:
        numbers.add(None)
    number = min(numbers, key=lambda number: number or 0)
    if snapshot.count(f"gen{number} AND all") != documents:
        numbers.add(None)
    return numbers


if __name__ == "__main__":
    print(json.dumps({"write": write, "read": read}[sys.argv[1]](*sys.argv[2:])))
