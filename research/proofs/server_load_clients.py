"""The clients of `server_load.py`, most of them in processes of their own."""
import contextlib
import http.client
import json
import multiprocessing
import random
import resource
import signal
import socket
import threading
import time
from pathlib import Path

from opensearch_node import Server, gannet_server

WORDS = ["whale", "ship", "sea", "peace", "war", "river", "iron", "lamp", "rope", "oil"]
PROCESSES = 4
# Documents that a client writes at once.
BATCH = 20
FILLED = 20_000
MEASURED = 300


def quantile(values, share):
    """The value that this share of all do not exceed."""
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else None


@contextlib.contextmanager
def without():
    yield None


def in_processes(work, arguments):
    """Runs a function for each of some arguments, several in a process of its own, all at once; what it gave."""
    groups = [arguments[at::PROCESSES] for at in range(PROCESSES)]
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        return [row for rows in pool.starmap(in_threads, [(work, group) for group in groups]) for row in rows]


def in_threads(work, arguments):
    found, threads = [], []
    for one in arguments:
        threads.append(threading.Thread(target=lambda one=one: found.append(work(*one))))
        threads[-1].start()
    for thread in threads:
        thread.join()
    return found


# Many indexes


def of_indexes(port, clients, indexes, seconds):
    """Clients that have indexes of their own, and know what these hold."""
    return in_processes(client_of_indexes, [(port, number, range(number, indexes, clients), seconds) for number in range(clients)])


def client_of_indexes(port, number, own, seconds):
    """Makes its indexes; then writes, searches and aggregates at random for the time."""
    row = {"client": number, "answered": 0, "busy": 0, "wrong": []}
    chance, held, server = random.Random(number), {index: {} for index in own}, Server(port)
    for index in own:
        ask(server, row, "PUT", f"/load{index}", {"mappings": {"properties": {"tag": {"type": "keyword"}, "n": {"type": "long"}, "body": {"type": "text"}}}})
        write(server, row, index, held[index], chance)
    until = time.monotonic() + seconds
    while time.monotonic() < until and held:
        index = chance.choice(list(held))
        try:
            chance.choice([write, find, find, aggregate])(server, row, index, held[index], chance)
        except (OSError, http.client.HTTPException) as error:
            row["wrong"].append(f"load{index}: {error!r}")
            server = Server(port)
    return row


def ask(server, row, *request):
    """Asks until the server has room for the request."""
    while True:
        status, answer = server.ask(*request)
        if status != 429:
            row["answered"] += 1
            return status, answer
        row["busy"] += 1
        time.sleep(0.05)


def write(server, row, index, documents, chance):
    lines, sent = [], {}
    for _ in range(BATCH):
        number = str(chance.randrange(200))
        sent[number] = {"tag": chance.choice(WORDS), "n": chance.randrange(100), "body": " ".join(chance.choice(WORDS) for _ in range(12))}
        lines += [json.dumps({"index": {"_id": number}}), json.dumps(sent[number])]
    status, answer = ask(server, row, "POST", f"/load{index}/_bulk", "\n".join(lines) + "\n", "application/x-ndjson")
    documents |= sent
    if status != 200 or answer["errors"]:
        row["wrong"].append(f"load{index}: _bulk gave {status} {str(answer)[:300]}")


def find(server, row, index, documents, chance):
    word = chance.choice(WORDS)
    status, answer = ask(server, row, "POST", f"/load{index}/_search", {"query": {"match": {"body": word}}, "size": 200})
    right = {number for number, document in documents.items() if word in document["body"].split()}
    found = {hit["_id"] for hit in answer["hits"]["hits"]} if status == 200 else answer
    changed = status == 200 and any(hit["_source"] != documents.get(hit["_id"]) for hit in answer["hits"]["hits"])
    if found != right or changed:
        row["wrong"].append(f"load{index}: {word} gave {status} {str(found)[:300]}, expected {len(right)}")


def aggregate(server, row, index, documents, chance):
    asked = {"size": 0, "aggs": {"tags": {"terms": {"field": "tag", "size": 20}}, "sum": {"sum": {"field": "n"}}}}
    status, answer = ask(server, row, "POST", f"/load{index}/_search", asked)
    counts = {}
    for document in documents.values():
        counts[document["tag"]] = counts.get(document["tag"], 0) + 1
    right = (counts, sum(document["n"] for document in documents.values()))
    found = answer
    if status == 200:
        parts = answer["aggregations"]
        found = ({bucket["key"]: bucket["doc_count"] for bucket in parts["tags"]["buckets"]}, parts["sum"]["value"])
    if found != right:
        row["wrong"].append(f"load{index}: aggregations gave {status} {str(found)[:300]}, expected {right}")


def openings(port, indexes):
    """Milliseconds of requests to indexes that are not open, each in its turn, while nothing else runs."""
    server, times = Server(port), []
    server.ask("GET", "/")
    for index in range(min(indexes, MEASURED)):
        start = time.perf_counter()
        status, _ = server.ask("GET", f"/load{index}/_count")
        if status == 200:
            times.append((time.perf_counter() - start) * 1e3)
    return [round(ms, 2) for ms in times]


# Overload


def fill(port):
    """An index of documents whose counts are known."""
    server, chance = Server(port), random.Random(1)
    server.ask("PUT", "/filled", {"mappings": {"properties": {"tag": {"type": "keyword"}, "n": {"type": "long"}, "body": {"type": "text"}}}})
    for begin in range(0, FILLED, 1000):
        lines = []
        for number in range(begin, begin + 1000):
            source = {"tag": WORDS[number % 10], "n": number, "body": " ".join(chance.choice(WORDS) for _ in range(30))}
            lines += [json.dumps({"index": {"_id": str(number)}}), json.dumps(source)]
        status, _ = server.ask("POST", "/filled/_bulk", "\n".join(lines) + "\n", "application/x-ndjson")
        assert status == 200, status


# Takes some milliseconds, and its answer is short, so that the clients need little of the
# processors.
HEAVY = json.dumps({"size": 0, "query": {"bool": {"must": [{"wildcard": {"body": "*"}}]}}, "aggs": {
    "t": {"terms": {"field": "tag"}, "aggs": {"s": {"extended_stats": {"field": "n"}}, "p": {"percentiles": {"field": "n"}}}},
    "c": {"cardinality": {"field": "n"}}}})


def heavy(server):
    """One search: its status, how long it took, whether it is right, whether it says when to come again."""
    start = time.perf_counter()
    status, answer = server.ask("POST", "/filled/_search", HEAVY)
    took = (time.perf_counter() - start) * 1e3
    is_right = status != 200 or answer["hits"]["total"]["value"] == FILLED and answer["aggregations"]["c"]["value"] == FILLED
    return status, took, is_right, server.headers.get("Retry-After") is not None


def status_of(server):
    start = time.perf_counter()
    server.ask("GET", "/health/live")
    return (time.perf_counter() - start) * 1e3


def overload(port, times, seconds):
    """Sends at a rate of so many times what can be answered."""
    server = Server(port)
    [heavy(server) for _ in range(20)]
    idle = [heavy(server)[1] for _ in range(MEASURED)]
    status_idle = [status_of(server) for _ in range(MEASURED)]
    begin = time.monotonic()
    together = in_processes(closed_loop, [(port, 5) for _ in range(PROCESSES)])
    capacity = sum(together) / (time.monotonic() - begin)
    until = time.monotonic() + seconds
    senders = 256
    watched = []
    watch = threading.Thread(target=lambda: watched.extend(watcher(port, until)))
    watch.start()
    rows = [row for rows in in_processes(open_loop, [(port, senders / (times * capacity), until, number / senders) for number in range(senders)]) for row in rows]
    watch.join()
    time.sleep(5)
    later = [heavy(server)[1] for _ in range(MEASURED)]
    answered = [row for row in rows if row[0] == 200]
    return {
        "capacity_per_second": round(capacity, 1), "sent_per_second": round(len(rows) / seconds, 1), "answered": len(answered), "turned_away": sum(row[0] == 429 for row in rows),
        "others": sum(row[0] not in (200, 429) for row in rows), "wrong": sum(not row[2] for row in rows), "without_retry_after": sum(row[0] == 429 and not row[3] for row in rows),
        "idle_p99_ms": quantile(idle, 0.99), "idle_p50_ms": quantile(idle, 0.5), "p50_ms": quantile([row[1] for row in answered], 0.5), "p99_ms": quantile([row[1] for row in answered], 0.99),
        "turned_away_p99_ms": quantile([row[1] for row in rows if row[0] == 429], 0.99), "status_idle_p99_ms": quantile(status_idle, 0.99), "status_p99_ms": quantile(watched, 0.99),
        "later_p99_ms": quantile(later, 0.99)}


def closed_loop(port, seconds):
    server, done, until = Server(port), 0, time.monotonic() + seconds
    while time.monotonic() < until:
        done += heavy(server)[0] == 200
    return done


def open_loop(port, pause, until, phase):
    """Sends at a fixed pace, as far as the connection is not waiting for an answer."""
    server, rows, due = Server(port), [], time.monotonic() + pause * phase
    while time.monotonic() < until:
        time.sleep(max(0, due - time.monotonic()))
        due = max(due + pause, time.monotonic() - pause)
        try:
            rows.append(heavy(server))
        except (OSError, http.client.HTTPException) as error:
            rows.append((repr(error), 0, True, False))
    return rows


def watcher(port, until):
    server, times = Server(port), []
    while time.monotonic() < until:
        times.append(status_of(server))
        time.sleep(0.05)
    return times


# Connections


def beside_connections(server, idle, slow, seconds):
    """Requests beside connections that say nothing, and those that send a byte a second."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, idle + slow + 1000)), hard))
    asked = Server(server.port)
    alone = timed_searches(asked, min(seconds, 10))
    before = resident_kib(server.started.pid)
    opened = [one for one in (connect(server.port) for _ in range(idle)) if one]
    slowly = [one for one in (connect(server.port, b"POST /filled/_search HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{") for _ in range(slow)) if one]
    time.sleep(1)
    after = resident_kib(server.started.pid)
    ends = threading.Event()
    drips = threading.Thread(target=drip, args=(slowly, ends))
    drips.start()
    beside = timed_searches(asked, seconds)
    ends.set()
    drips.join()
    for one in [*opened, *slowly]:
        one.close()
    return {"idle_opened": len(opened), "slow_opened": len(slowly), "failed": sum(ms is None for ms in [*alone, *beside]), "alone_p99_ms": quantile(alone, 0.99),
            "p99_ms": quantile([ms for ms in beside if ms is not None], 0.99), "kib_each": round((after - before) / (idle + slow), 1)}


def connect(port, sent=b""):
    with contextlib.suppress(OSError):
        one = socket.create_connection(("127.0.0.1", port), timeout=5)
        one.sendall(sent)
        return one
    return None


def drip(connections, ends):
    while not ends.wait(1):
        for one in connections:
            with contextlib.suppress(OSError):
                one.send(b" ")


def timed_searches(server, seconds):
    times, until = [], time.monotonic() + seconds
    while time.monotonic() < until:
        start = time.perf_counter()
        try:
            status, answer = server.ask("POST", "/filled/_search", {"query": {"match": {"body": "whale ship"}}})
            times.append((time.perf_counter() - start) * 1e3 if status == 200 else None)
        except (OSError, http.client.HTTPException):
            times.append(None)
        time.sleep(0.002)
    return times


def resident_kib(pid):
    line = next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


# Kills


class Ledger:
    """What was sent and what was acknowledged, of all kills in one folder."""

    def __init__(self):
        self.sent, self.acknowledged, self.next = set(), set(), 0
        self.lock = threading.Lock()


LEDGERS = {}


def kill(command, folder, number):
    """One server that is killed while clients write; then one that is asked for all documents, and killed in its turn."""
    ledger, chance = LEDGERS.setdefault(folder, Ledger()), random.Random(number)
    with gannet_server(command, folder=folder) as server:
        row = check(server, ledger) if number else {"lost": 0, "foreign": 0}
        writers = [threading.Thread(target=keep_writing, args=(server.port, ledger, number)) for _ in range(4)]
        for writer in writers:
            writer.start()
        time.sleep(chance.uniform(0.05, 0.5))
        server.started.send_signal(signal.SIGKILL)
        server.started.wait()
        for writer in writers:
            writer.join()
    with gannet_server(command, folder=folder) as server:
        after = check(server, ledger)
    return {"kill": number, "acknowledged": len(ledger.acknowledged), "lost": row["lost"] + after["lost"], "foreign": row["foreign"] + after["foreign"]}


def keep_writing(port, ledger, run):
    """Writes batches until the connection breaks."""
    server = Server(port)
    while True:
        with ledger.lock:
            numbers = range(ledger.next, ledger.next + BATCH)
            ledger.next += BATCH
            ledger.sent.update(numbers)
        lines = []
        for number in numbers:
            lines += [json.dumps({"index": {"_id": str(number)}}), json.dumps({"n": number, "body": f"document {number} of the group {number % 7}"})]
        try:
            server.connection = server.connection or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            server.connection.request("POST", "/killed/_bulk", "\n".join(lines) + "\n", {"Content-Type": "application/x-ndjson"})
            answer = server.connection.getresponse()
            body = json.loads(answer.read())
        except (OSError, http.client.HTTPException, ValueError):
            return
        if answer.status != 200:
            continue
        done = [int(item["index"]["_id"]) for item in body["items"] if item["index"]["status"] in (200, 201)]
        with ledger.lock:
            ledger.acknowledged.update(done)


def check(server, ledger):
    """All documents of the index against the ledger."""
    found, after = {}, None
    while True:
        body = {"size": 5000, "sort": ["_doc"]} | ({"search_after": after} if after else {})
        status, answer = server.ask("POST", "/killed/_search", body)
        hits = answer["hits"]["hits"] if status == 200 else []
        found |= {int(hit["_id"]): hit["_source"] for hit in hits}
        if not hits:
            break
        after = hits[-1]["sort"]
    wrong = sum(source != {"n": number, "body": f"document {number} of the group {number % 7}"} for number, source in found.items())
    return {"lost": len(ledger.acknowledged - set(found)) + wrong, "foreign": len(set(found) - ledger.sent)}
