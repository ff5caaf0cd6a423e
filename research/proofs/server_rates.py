#!/usr/bin/env python3
"""The rate of the server beside OpenSearch: writing by `_bulk`, and queries of a web log over 8 and 64 connections.

    research/proofs/server_rates.py [--documents N] [--seconds N] [--runs N]

Each server is alone on the machine and in a memory group of what it holds beside its cache of the index and a sixteenth of that
index: OpenSearch has the page cache for it, Gannet its `--memory`. OpenSearch writes into one shard without replicas, is merged
to one segment, and has its own defaults otherwise. Queries are `match` with all words, or with any; they ask for ten hits with
their titles. Clients write what they have encoded before and read answers without decoding them, since they share the processors.
At last `gannet bench` asks the same index the same queries in the same memory, to know what HTTP costs.
"""
import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import inputs
import server_rates_clients as clients
from harness import CACHE, CORPORA, MIB, Claims, MemoryGroup, gannet, note, results, run
from opensearch_node import gannet_server, java, opensearch

DOCUMENTS, QUERIES = 200_000, 5_000
CONNECTIONS = [8, 64]
OPERATORS = ["and", "or"]
# What a process may come to hold beside what it holds after the first queries.
MARGIN_MIB = 64
# What Gannet needs beside its cache of one index.
GANNET_FLOOR_MIB = 48
UNLIMITED = 1 << 40


def main():
    options = arguments()
    if java() is None:
        print("skipped: no Java of version 21 or newer")
        return
    with Claims("server-rates", options.out, documents=options.documents, seconds=options.seconds, runs=options.runs, connections=CONNECTIONS) as claims:
        command = options.command or gannet()
        texts = clients.batches(inputs.source("passages", options.documents))
        queries = log()
        peer = of_opensearch(texts, queries, options, claims)
        own = of_gannet(command, texts, queries, options, claims)
        compare(own, peer, claims)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", help="a binary of the command (default: a release binary is built)")
    parser.add_argument("--documents", type=int, default=DOCUMENTS)
    parser.add_argument("--seconds", type=float, default=15, help="of each measurement, behind a third of it to warm up")
    parser.add_argument("--runs", type=int, default=3)
    results.add_option(parser)
    return parser.parse_args()


def log():
    """The words of the first queries of the log."""
    lines = (CORPORA / "queries" / "web-log-25k.tsv").read_text(encoding="utf-8").splitlines()
    return [line.partition("\t")[2] for line in lines[:QUERIES]]


def of_opensearch(texts, queries, options, claims):
    """OpenSearch's rates. Its group is known once it runs, with all of its heap, so it begins in one without a limit, which is
    then drawn in."""
    with MemoryGroup(UNLIMITED) as group, opensearch("-XX:+AlwaysPreTouch", inherited=group.join) as server:
        row = {"engine": "opensearch", "bulk_per_second": clients.load(server, texts)}
        server.ask("POST", "/passages/_forcemerge?max_num_segments=1")
        size = server.ask("GET", "/passages/_stats")[1]["_all"]["primaries"]["store"]["size_in_bytes"]
        clients.searches(server, queries, "or", max(CONNECTIONS), 5)
        floor = clients.resident_bytes(server.started.pid)
        limit = floor + MARGIN_MIB * MIB + size // 16
        group.write("memory.force_empty", 0)
        group.write("memory.limit_in_bytes", limit)
        note(f"OpenSearch: {floor / MIB:.0f} MiB beside its index of {size / MIB:.0f} MiB, {row['bulk_per_second']:.0f} documents a second")
        return rates(server, queries, row | {"index_bytes": size, "floor_bytes": floor, "limit_bytes": limit}, options, claims)


def of_gannet(command, texts, queries, options, claims):
    folder = CACHE / "server-rates"
    clients.emptied(folder)
    with gannet_server(command, "--memory", "256MiB", folder=folder) as server:
        row = {"engine": "gannet", "bulk_per_second": clients.load(server, texts)}
        server.ask("POST", "/passages/_flush")
        size = server.ask("GET", "/passages/_stats")[1]["_all"]["primaries"]["store"]["size_in_bytes"]
    index = clients.index_of(folder)
    single = clients.alone(command, inputs.source("passages", options.documents), folder / "alone.gnt")
    row |= {"index_bytes": size, "command_per_second": single}
    memory = GANNET_FLOOR_MIB * MIB + size // 16
    with MemoryGroup(memory + MARGIN_MIB * MIB) as group, gannet_server(command, "--memory", memory, "--max-open", 1, folder=folder, inherited=group.join) as server:
        row |= {"idle_bytes": clients.resident_bytes(server.started.pid), "limit_bytes": memory + MARGIN_MIB * MIB, "memory_bytes": memory}
        note(f"Gannet: an index of {size / MIB:.0f} MiB, {row['bulk_per_second']:.0f} documents a second, by the command {single:.0f}")
        row = rates(server, queries, row, options, claims)
        row["kills"] = group.figures()["kills"]
    file = folder / "queries.tsv"
    file.write_text("".join(f"{number}\t{words}\n" for number, words in enumerate(queries)))
    told = run([command, "bench", index, file, "--as", "and", "--memory", memory, "--threads", 2, "--seconds", options.seconds, "--fetch", "--json"])
    row["bench_cpu_us"] = json.loads(told.output)["cpu_us_per_query"]
    return row


def rates(server, queries, row, options, claims):
    """Queries a second, by operator and number of connections; `row` has the medians behind them."""
    for operator in OPERATORS:
        for connections in CONNECTIONS:
            runs = [clients.searches(server, queries, operator, connections, options.seconds) for _ in range(options.runs)]
            claims.rows += [{"engine": row["engine"], "operator": operator, "connections": connections} | one for one in runs]
            for name in ("per_second", "cpu_us", "p99_ms"):
                row[f"{operator} {connections} {name}"] = statistics.median(one[name] for one in runs)
            note(f"{row['engine']}, {operator}, {connections} connections: {[one['per_second'] for one in runs]} a second")
    return row


def compare(own, peer, claims):
    claims.rows += [own, peer]
    for operator in OPERATORS:
        for connections in CONNECTIONS:
            name = f"{operator} {connections} per_second"
            claims.at_least(f"queries a second by OpenSearch's: {operator}, {connections} connections", round(own[name] / peer[name], 2), 3)
    claims.at_least("documents a second by OpenSearch's", round(own["bulk_per_second"] / peer["bulk_per_second"], 2), 1)
    claims.at_least("documents a second by those of `gannet index`", round(own["bulk_per_second"] / own["command_per_second"], 2), 0.8)
    claims.at_most("us of CPU for a query beyond those of `gannet bench`", round(own["and 8 cpu_us"] - own["bench_cpu_us"]), 80)
    claims.at_most("MiB of the idle server", round(own["idle_bytes"] / MIB, 1), 60)
    claims.equal("kills in the memory group", own["kills"], 0)


if __name__ == "__main__":
    main()
