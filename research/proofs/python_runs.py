"""What research/proofs/python.py runs in an environment that has the wheel: one run, its figures as JSON.

Not a script of its own: it has the arguments KIND, INDEX, FILE and a number, and needs `gannet`.
"""
import json
import resource
import sys
import threading
import time

import gannet

MEMORY = "512MiB"


def main(kind, index, file, number):
    figures = RUNS[kind](index, file, int(number))
    print(json.dumps(figures))


def add(index, source):
    """Adds documents and closes, as `gannet index` does."""
    begun = used()
    with gannet.open(index, memory=MEMORY) as ix:
        added = ix.add(source).added
    return spent(begun) | {"documents": added}


def from_path(index, file, _):
    return add(index, file)


def from_polars(index, file, _):
    import polars

    return add(index, polars.read_ndjson(file))


def from_pandas(index, file, _):
    import pandas

    return add(index, pandas.read_json(file, lines=True, dtype={"id": str}))


def from_pyarrow(index, file, _):
    import pyarrow.json

    return add(index, pyarrow.json.read_json(file))


def stream(index, file, memory):
    """Batches of Arrow, read as they are wanted, under a budget of so many MiB."""
    import pyarrow.json

    with gannet.open(index, memory=f"{memory}MiB") as ix:
        begun = used()
        added = ix.add(pyarrow.json.open_json(file)).added
    return spent(begun) | {"documents": added}


def under(index, file, memory):
    """The queries under a budget of so many MiB: many at once, then by one call each with documents."""
    asked = queries(file)
    with gannet.open(index, memory=f"{memory}MiB", read_only=True) as ix:
        begun = used()
        hits = len(ix.search_many(asked).to_arrow())
        for query in asked[:1000]:
            hits += len(ix.search(query, highlight="body").to_arrow())
        return spent(begun) | {"queries": len(asked) + min(1000, len(asked)), "hits": hits}


def from_dicts(index, file, _):
    with open(file, encoding="utf-8") as lines:
        return add(index, map(json.loads, lines))


def many(index, file, threads):
    """All queries by `search_many`, warm: IDs and scores of ten documents each."""
    asked = queries(file)
    with gannet.open(index, memory=MEMORY, read_only=True) as ix:
        return warm(lambda: ix.search_many(asked, threads=threads), asked) | {"threads": threads}


def one_by_one(index, file, _):
    """The same queries by one call each, on one thread, without documents."""
    asked = queries(file)
    with gannet.open(index, memory=MEMORY, read_only=True) as ix:
        return warm(lambda: each(ix, asked), asked)


def each(ix, asked):
    for query in asked:
        ix.search(query, sources=False)


def warm(work, asked):
    """What passes over the queries take in three seconds, after two to warm up, as in `bench`."""
    passes(work, 2)
    begun = used()
    number = passes(work, 3)
    return spent(begun) | {"queries": number * len(asked)}


def passes(work, seconds):
    number, end = 0, time.perf_counter() + seconds
    while time.perf_counter() < end:
        work()
        number += 1
    return number


def once(index, file, threads):
    """All queries by `search_many`, once."""
    with gannet.open(index, memory=MEMORY, read_only=True, backend="pread") as ix:
        return {"queries": len(ix.search_many(queries(file), threads=threads))}


def each_once(index, file, _):
    """All queries by one call each, once."""
    with gannet.open(index, memory=MEMORY, read_only=True, backend="pread") as ix:
        return {"queries": len([ix.search(query, sources=False) for query in queries(file)])}


def threads(index, file, number):
    """The same queries by calls of several threads, which share them."""
    asked = queries(file)
    with gannet.open(index, memory=MEMORY, read_only=True) as ix:

        def work():
            workers = [threading.Thread(target=each, args=(ix, asked[first::number])) for first in range(number)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()

        return warm(work, asked) | {"threads": number}


def queries(file):
    with open(file, encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t")[-1] for line in lines]


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), usage.ru_utime + usage.ru_stime


def spent(begun):
    seconds, cpu = used()
    return {"seconds": seconds - begun[0], "cpu_seconds": cpu - begun[1]}


RUNS = {
    "path": from_path,
    "polars": from_polars,
    "pandas": from_pandas,
    "pyarrow": from_pyarrow,
    "dicts": from_dicts,
    "stream": stream,
    "under": under,
    "many": many,
    "one": one_by_one,
    "threads": threads,
    "search_many": once,
    "search": each_once,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
