"""The clients of `server_rates.py`, in processes of their own: bytes over sockets, without a library of HTTP."""
import json
import multiprocessing
import os
import shutil
import socket
import time
from pathlib import Path

from harness import MIB, Unable, last_json, run

PROCESSES = 2
WRITERS = 4
BATCH = 500
MAPPING = {"mappings": {"properties": {"title": {"type": "text"}, "body": {"type": "text"}}},
           "settings": {"number_of_shards": 1, "number_of_replicas": 0}}


def batches(file):
    """The bodies of `_bulk`, and the number of documents."""
    bodies, lines, count = [], [], 0
    with open(file, encoding="utf-8") as texts:
        for line in texts:
            document = json.loads(line)
            name = document.pop("id")
            lines += [json.dumps({"index": {"_id": str(name)}}), json.dumps(document, ensure_ascii=False)]
            count += 1
            if len(lines) == 2 * BATCH:
                bodies.append(("\n".join(lines) + "\n").encode())
                lines = []
    if lines:
        bodies.append(("\n".join(lines) + "\n").encode())
    return bodies, count


def load(server, texts):
    """Makes the index and writes all documents over several connections; documents a second."""
    bodies, count = texts
    status, told = server.ask("PUT", "/passages", MAPPING)
    if status != 200:
        raise Unable(f"no index is made: {told}")
    requests = [request("POST", "/passages/_bulk", body, "application/x-ndjson") for body in bodies]
    begin = time.monotonic()
    with multiprocessing.get_context("fork").Pool(WRITERS) as pool:
        failed = sum(pool.starmap(write, [(server.port, requests[at::WRITERS]) for at in range(WRITERS)]))
    took = time.monotonic() - begin
    if failed:
        raise Unable(f"{failed} batches were not written")
    server.ask("POST", "/passages/_refresh")
    found = server.ask("GET", "/passages/_count")[1]["count"]
    if found != count:
        raise Unable(f"{found} of {count} documents are there")
    return round(count / took, 1)


def write(port, requests):
    connection, failed = Connection(port), 0
    for each in requests:
        status, body = connection.ask(each)
        failed += status != 200 or b'"errors":false' not in body
    return failed


def searches(server, queries, operator, connections, seconds):
    """Asks for a third of the time, and then for the time that counts."""
    bodies = [json.dumps({"query": {"match": {"body": {"query": words, "operator": operator}}}, "size": 10, "_source": ["title"]}) for words in queries]
    requests = [request("POST", "/passages/_search", body.encode(), "application/json") for body in bodies]
    begin = time.monotonic() + seconds / 3
    each = connections // PROCESSES
    arguments = [(server.port, requests[at::PROCESSES], each, begin, begin + seconds) for at in range(PROCESSES)]
    with multiprocessing.get_context("fork").Pool(PROCESSES) as pool:
        running = pool.starmap_async(ask_side_by_side, arguments)
        time.sleep(max(0, begin - time.monotonic()))
        cpu = cpu_seconds(server.started.pid)
        time.sleep(max(0, begin + seconds - time.monotonic()))
        cpu = cpu_seconds(server.started.pid) - cpu
        rows = running.get()
    times = sorted(time for row in rows for time in row["times"])
    if not times or any(row["failed"] for row in rows):
        raise Unable(f"searches failed: {[row['failed'] for row in rows]}")
    return {"per_second": round(len(times) / seconds, 1), "cpu_us": round(cpu / len(times) * 1e6, 1),
            "p50_ms": round(times[len(times) // 2] * 1e3, 2), "p99_ms": round(times[len(times) * 99 // 100] * 1e3, 2)}


def ask_side_by_side(port, requests, connections, begin, end):
    """One process that keeps several connections busy, each with a request at a time."""
    import selectors

    chosen, row = selectors.DefaultSelector(), {"times": [], "failed": 0}
    next_request = 0
    for _ in range(connections):
        connection = Connection(port)
        connection.send(requests[next_request % len(requests)])
        next_request += 1
        chosen.register(connection.socket, selectors.EVENT_READ, connection)
    while time.monotonic() < end:
        for key, _ in chosen.select(timeout=1):
            connection = key.data
            if not connection.receive():
                continue
            now = time.monotonic()
            row["failed"] += connection.status != 200
            if begin <= now < end:
                row["times"].append(now - connection.sent)
            connection.send(requests[next_request % len(requests)])
            next_request += 1
    return row


def request(method, path, body, kind):
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


class Connection:
    """A connection with at most one request under way. Answers have their length."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.held, self.length, self.status, self.body, self.sent = b"", None, None, b"", 0.0

    def send(self, sent):
        self.held, self.length, self.sent = b"", None, time.monotonic()
        self.socket.sendall(sent)

    def receive(self):
        """Takes what has come; true once the answer is whole."""
        some = self.socket.recv(1 << 18)
        if not some:
            raise Unable("a server has closed a connection")
        self.held += some
        if self.length is None:
            head, mark, _ = self.held.partition(b"\r\n\r\n")
            if not mark:
                return False
            lines = head.lower().split(b"\r\n")
            self.status = int(lines[0].split()[1])
            self.length = len(head) + 4 + int(next(line for line in lines if line.startswith(b"content-length:"))[15:])
        if len(self.held) < self.length:
            return False
        self.body = self.held
        return True

    def ask(self, sent):
        self.send(sent)
        while not self.receive():
            pass
        return self.status, self.body


def alone(command, file, index):
    """Documents a second of `gannet index` with the memory that the server has while it writes."""
    told = last_json(run([command, "index", index, file, "--memory", 256 * MIB, "--json"]).output)
    shutil.rmtree(index)
    return round(told["documents"] / told["seconds"], 1)


def index_of(folder):
    """The folder of the only index of a server."""
    return next(path.parent for path in sorted(Path(folder).rglob("superblock*")))


def emptied(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(pid):
    """Memory of a process beside files that it maps."""
    lines = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(lines["RssAnon"].split()[0]) * 1024
