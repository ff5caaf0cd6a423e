#!/usr/bin/env python3
"""The server under load: many indexes with little memory, more requests than it can take, idle and slow connections, kills.

    research/proofs/server_load.py [--parts indexes overload connections kills] [--seconds N] [--kills N]

`indexes`: 64 clients write, search and aggregate in a thousand indexes in a memory group, and each answer is checked against
what the client wrote. `overload`: ten times more requests than the server can take; answers are right or 429 with Retry-After.
`connections`: thousands that are idle and hundreds that are slow beside a client that asks. `kills`: kill -9 while clients write
by `_bulk`; what was acknowledged is there afterwards. All on loopback.
"""
import argparse
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import server_load_clients as clients
from harness import MIB, Claims, MemoryGroup, Unable, gannet, note, results
from opensearch_node import gannet_server

PARTS = ["indexes", "overload", "connections", "kills"]
INDEXES, CLIENTS, MEMORY_MIB = 1000, 64, 1024
# What a process holds beside its budget.
BESIDE_MIB = 256
# Each needs 16 MiB, and the server some more.
MAX_OPEN = 48
IDLE_CONNECTIONS, SLOW_CONNECTIONS = 5_000, 500
TIMES = 10
OPENING_MS = 20


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", help="a binary of the command (default: a release binary is built)")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--seconds", type=float, default=60, help="of the load of each part (default: 60)")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--indexes", type=int, default=INDEXES)
    results.add_option(parser)
    options = parser.parse_args()
    with Claims("server-load", options.out, parts=options.parts, seconds=options.seconds, kills=options.kills, indexes=options.indexes,
                clients=CLIENTS, memory_mib=MEMORY_MIB, max_open=MAX_OPEN) as claims:
        command = options.command or gannet()
        for part in options.parts:
            note(part)
            globals()[part](command, options, claims)


def indexes(command, options, claims):
    """Many indexes of which few are open, in a memory group; each client knows what its indexes hold."""
    with grouped() as group, gannet_server(command, "--memory", f"{MEMORY_MIB}MiB", "--max-open", MAX_OPEN, inherited=group.join if group else None) as server:
        rows = clients.of_indexes(server.port, CLIENTS, options.indexes, options.seconds)
        wrong = [error for row in rows for error in row["wrong"]]
        for error in wrong[:5]:
            note(f"wrong: {error}")
        claims.rows += [{"part": "indexes"} | row for row in rows]
        claims.equal("indexes: wrong answers", len(wrong), 0)
        claims.at_least("indexes: requests answered", sum(row["answered"] for row in rows), 1)
        claims.known("indexes: requests told to come again", sum(row["busy"] for row in rows))
        times = clients.openings(server.port, options.indexes)
        claims.rows.append({"part": "opening", "ms": times})
        claims.at_most("indexes: median time of a request that opens an idle index, ms", clients.quantile(times, 0.5), OPENING_MS)
        claims.known("indexes: p99 of it, ms", clients.quantile(times, 0.99))
        if group:
            claims.equal("indexes: kills in the memory group", group.figures()["kills"], 0)
    claims.known("indexes: in a memory group", bool(group))


def grouped():
    """A memory group of the budget and what a process needs beside it; none where none can be made."""
    group = MemoryGroup((MEMORY_MIB + BESIDE_MIB) * MIB)
    try:
        group.__enter__()
    except Unable as error:
        note(f"without a memory group: {error}")
        return clients.without()
    group.__exit__(None, None, None)
    return group


def overload(command, options, claims):
    """More searches than can be answered: each is answered, or told to come again at once."""
    with gannet_server(command) as server:
        clients.fill(server.port)
        found = clients.overload(server.port, TIMES, options.seconds)
        claims.rows.append({"part": "overload"} | found)
        claims.at_least("overload: requests for each that can be answered", round(found["sent_per_second"] / found["capacity_per_second"], 1), TIMES * 0.9)
        claims.equal("overload: answers other than 200 and 429", found["others"], 0)
        claims.equal("overload: 429 without Retry-After", found["without_retry_after"], 0)
        claims.equal("overload: wrong answers", found["wrong"], 0)
        claims.at_most("overload: p99 of answered searches by the idle one", round(found["p99_ms"] / found["idle_p99_ms"], 1), 5)
        claims.at_most("overload: p99 of status requests beside it by the idle one", round(found["status_p99_ms"] / found["status_idle_p99_ms"], 1), 5)
        claims.at_most("overload: p99 5 s later by the idle one", round(found["later_p99_ms"] / found["idle_p99_ms"], 1), 1.5)


def connections(command, options, claims):
    """Idle and slow connections beside a client that asks."""
    with gannet_server(command, "--max-connections", IDLE_CONNECTIONS + SLOW_CONNECTIONS + 100) as server:
        clients.fill(server.port)
        found = clients.beside_connections(server, IDLE_CONNECTIONS, SLOW_CONNECTIONS, min(options.seconds, 30))
        claims.rows.append({"part": "connections"} | found)
        claims.equal("connections: idle ones that were opened", found["idle_opened"], IDLE_CONNECTIONS)
        claims.equal("connections: slow ones that were opened", found["slow_opened"], SLOW_CONNECTIONS)
        claims.equal("connections: requests that failed beside them", found["failed"], 0)
        claims.at_most("connections: p99 of requests beside them by that without", round(found["p99_ms"] / found["alone_p99_ms"], 2), 2)
        claims.known("connections: resident KiB for each connection", found["kib_each"])


def kills(command, options, claims):
    """Kills while clients write in bulk: what was acknowledged is there, once and whole."""
    with tempfile.TemporaryDirectory() as folder:
        rows = [clients.kill(command, folder, number) for number in range(options.kills)]
    claims.rows += [{"part": "kills"} | row for row in rows]
    claims.equal("kills", len(rows), options.kills)
    claims.at_least("kills: documents acknowledged", rows[-1]["acknowledged"], options.kills)
    claims.equal("kills: acknowledged documents lost or changed", sum(row["lost"] for row in rows), 0)
    claims.equal("kills: documents that were never sent", sum(row["foreign"] for row in rows), 0)


if __name__ == "__main__":
    main()
