"""What the scripts of this folder and the lab share: corpora, release binaries, memory groups, timed runs, the result.

Only the standard library. A script writes its checks into a `Claims`, which prints one JSON object and ends the process with 1
when a check misses; an error on the way is a missed check too, never a silent skip.
"""
import contextlib
import hashlib
import json
import re
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

import results
from folders import ROOT

CORPORA = Path(os.environ.get("GANNET_CORPORA", ROOT.parent / "shared"))
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
CACHE = ROOT / "target" / "measure"
# The corpora that `research/measure/corpora.py` makes.
MADE = Path(os.environ.get("GANNET_MADE_CORPORA", ROOT / "target" / "corpora"))
CGROUP = Path("/sys/fs/cgroup/memory")
MIB = 1 << 20


class Unable(Exception):
    """Something that a check needs is missing or broke; the message says what to do."""


class Claims:
    """The checks of one script. Use it as a context: it prints, writes the result file and exits at the end.

    `rows` is for every repetition of what was measured.
    """

    def __init__(self, name, out=None, **settings):
        self.name = name
        self.checks, self.rows = [], []
        self.result = results.Result(name, settings, out)
        self.settings = settings

    def check(self, name, figure, target, holds):
        """Adds one figure with its target and whether it holds."""
        self.checks.append({"name": name, "figure": figure, "target": target, "holds": bool(holds)})
        note(f"{'holds' if holds else 'MISSES'}: {name} = {figure} (target {target})")

    def at_most(self, name, figure, limit):
        """Holds when the figure is known and no larger than the limit."""
        self.check(name, figure, f"<= {limit}", figure is not None and figure <= limit)

    def at_least(self, name, figure, limit):
        """Holds when the figure is known and no smaller than the limit."""
        self.check(name, figure, f">= {limit}", figure is not None and figure >= limit)

    def equal(self, name, figure, expected):
        """Holds when the figure is exactly what is expected."""
        self.check(name, figure, expected, figure == expected)

    def known(self, name, figure):
        """A figure without a target: it only has to be there."""
        self.check(name, figure, "reported", figure is not None)

    def __enter__(self):
        # A script that is ended must end what it started: see `run`.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None and not issubclass(kind, Exception):
            return False  # An interruption is no result.
        if error is not None:
            if not isinstance(error, Unable):
                traceback.print_exception(kind, error, trace)
            self.check("the script runs to its end", f"{kind.__name__}: {error}", "no error", False)
        self.result.rows, self.result.more = self.rows, {"checks": self.checks}
        note(f"everything is in {self.result.write()}")
        about = {name: value for name, value in self.result.head.items() if name != "result"}
        print(json.dumps({"measured": self.name, "checks": self.checks, "settings": about | self.settings, "rows": self.rows}, indent=1))
        sys.exit(0 if self.checks and all(check["holds"] for check in self.checks) else 1)


def note(text):
    """Progress for people, on standard error."""
    print(f"[measure] {text}", file=sys.stderr, flush=True)


# Programs


def gannet():
    """The release binary of the command, built from this tree."""
    build(["cargo", "build", "--release", "--locked", "-p", "gannet-cli"], ROOT)
    return str(TARGET / "release" / "gannet")


def tantivy():
    """The release binary of the Tantivy peer."""
    folder = TARGET / "engines"
    build(["cargo", "build", "--release", "--locked", "--target-dir", str(folder)], ROOT / "research/peers/tantivy")
    return str(folder / "release" / "tantivy-peer")


def seekstorm():
    """The release binary of the SeekStorm peer."""
    folder = TARGET / "engines-seekstorm"
    # In its folder cargo finds the flags that it is built with.
    build(["cargo", "build", "--release", "--locked", "--target-dir", str(folder)], ROOT / "research/peers/seekstorm")
    return str(folder / "release" / "seekstorm-peer")


def build(command, folder, environment=None):
    """Builds quietly; a failure shows the compiler's words."""
    note(" ".join(command))
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=os.environ | (environment or {}))
    if done.returncode != 0:
        raise Unable(f"{' '.join(command)} failed: {(done.stdout + done.stderr)[-2000:]}")


class Finished:
    """A process that ended: exit code (negative: the signal), times, memory, bytes read, output."""

    def __init__(self, command, code, seconds, usage, output, errors):
        self.command, self.code, self.seconds = command, code, seconds
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.peak_resident_bytes = usage.ru_maxrss * 1024
        self.device_bytes_read = usage.ru_inblock * 512
        self.device_bytes_written = usage.ru_oublock * 512
        self.output, self.errors = output, errors

    def json(self):
        """The last JSON object of the output; the exit code must be 0."""
        if self.code != 0:
            raise Unable(f"{' '.join(self.command)[:300]} ended with {self.code}: {self.errors[-1000:]}")
        if (found := last_json(self.output)) is None:
            raise Unable(f"no JSON from {' '.join(self.command)[:300]}: {self.output[-300:]!r}")
        return found


def last_json(output):
    """All of the output if it is JSON, else the last line that is; None where there is neither."""
    for line in [output, *reversed(output.strip().splitlines())]:
        with contextlib.suppress(ValueError):
            return json.loads(line)
    return None


def run(command, group=None, environment=None, timeout=None, folder=ROOT):
    """Runs a command to its end, inside a memory group if one is given."""
    command = [str(word) for word in command]
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.monotonic()
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, cwd=folder,
            env=os.environ | (environment or {}), preexec_fn=group.join if group else None)
        try:
            usage = wait(process, timeout)
        except BaseException:
            process.kill()
            raise
        seconds = time.monotonic() - start
        output.seek(0), errors.seek(0)
        return Finished(command, process.returncode, seconds, usage, output.read(), errors.read())


def index_lines(command, folder, lines, *options, group=None):
    """Starts `gannet index` on standard input, inside a memory group if one is given, and feeds it; the process waits for
    more when this returns."""
    process = subprocess.Popen(
        [str(word) for word in [command, "index", folder, "-", *options]],
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        preexec_fn=group.join if group else None)
    for line in lines:
        process.stdin.write(line)
    process.stdin.flush()
    return process


def settle(process, quiet_seconds=1.0):
    """Waits until a process uses no more processor time."""
    used, since = None, time.monotonic()
    while time.monotonic() - since < quiet_seconds:
        time.sleep(0.1)
        fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        if fields[0] == "Z":
            raise Unable(f"the index process ended by itself with {process.wait()}")
        if fields[11:13] != used:
            used, since = fields[11:13], time.monotonic()


def wait(process, timeout=None):
    """Waits for a process, kills it after `timeout` seconds, gives its resource usage."""
    alarm = threading.Timer(timeout, process.kill) if timeout else None
    if alarm:
        alarm.start()
    _, status, usage = os.wait4(process.pid, 0)
    if alarm:
        alarm.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage


class MemoryGroup:
    """A memory cgroup (v1) without swap, removed at the end of the context."""

    numbers = iter(range(1 << 30))

    def __init__(self, limit_bytes):
        self.limit_bytes = limit_bytes
        self.folder = CGROUP / f"gannet-measure-{os.getpid()}-{next(self.numbers)}"

    def __enter__(self):
        if not (CGROUP / "memory.limit_in_bytes").exists():
            raise Unable(f"no memory cgroup (v1) at {CGROUP}: mount one and run as root")
        try:
            self.folder.mkdir()
            self.write("memory.limit_in_bytes", self.limit_bytes)
            self.write("memory.swappiness", 0)
        except OSError as error:
            raise Unable(f"cannot make the memory group {self.folder}: {error}") from error
        with contextlib.suppress(OSError):  # The kernel may have been built without swap accounting.
            self.write("memory.memsw.limit_in_bytes", self.limit_bytes)
        return self

    def __exit__(self, *_):
        deadline = time.monotonic() + 10
        while self.folder.exists():
            with contextlib.suppress(OSError):
                self.folder.rmdir()
                return
            if time.monotonic() > deadline:
                raise Unable(f"cannot remove {self.folder}: {self.read('cgroup.procs').split()} are in it")
            with contextlib.suppress(OSError):
                self.write("memory.force_empty", 0)
            time.sleep(0.05)

    def join(self):
        """Puts the calling process into the group: for a child before it runs its program."""
        self.write("cgroup.procs", os.getpid())

    def figures(self):
        """What the kernel counted: most memory (page cache included), kills."""
        control = dict(line.split() for line in self.read("memory.oom_control").splitlines())
        return {
            "limit_bytes": self.limit_bytes,
            "most_used_bytes": int(self.read("memory.max_usage_in_bytes")),
            "kills": int(control.get("oom_kill", 0)),
        }

    def read(self, name):
        return (self.folder / name).read_text()

    def write(self, name, value):
        (self.folder / name).write_text(str(value))


# Texts


def passages():
    """About 540,000 passages of the Wikipedia articles, as JSON lines."""
    cutter = f"{sys.executable} {quoted(Path(__file__).parent / 'passages.py')}"
    return made("passages.jsonl", lambda: f"{unpacked(wikipedia())} | {cutter}", MADE)


def articles():
    """The 30,094 Wikipedia articles, as JSON lines."""
    return made("articles.jsonl", lambda: unpacked(wikipedia()), MADE)


def wikipedia():
    return CORPORA / "corpora/wikipedia-2015.jsonl.zst"


def unpack(source, name):
    """A zstd file as plain text in the cache."""
    return made(name, lambda: unpacked(source))


def unpacked(source):
    if not source.exists():
        raise Unable(f"{source} is missing: set GANNET_CORPORA to the folder of the corpora")
    if not shutil.which("zstd"):
        raise Unable("the zstd command is missing: it unpacks the corpora")
    return f"zstd -dc {quoted(source)}"


def made(name, pipeline, folder=CACHE):
    """A file of a folder, made by a shell pipeline when it is missing."""
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        note(f"making {path}")
        unfinished = path.with_suffix(".unfinished")
        subprocess.run(["bash", "-o", "pipefail", "-c", f"{pipeline()} > {quoted(unfinished)}"], check=True)
        unfinished.rename(path)
    return path


def quoted(path):
    return "'" + str(path).replace("'", "'\\''") + "'"


def documents(path):
    """The documents of a JSON lines file, one by one."""
    with open(path, encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def text_size(path):
    """What `size_of` counts of a JSON lines file, kept beside it."""
    return kept(size_file(path), lambda: size_of(path))


def size_file(path):
    return path.with_suffix(".size.json")


def size_of(path):
    """Documents, bytes of title and body in UTF-8, and those of the largest document, of a JSON lines file."""
    docs = size = largest = 0
    for document in documents(path):
        bytes = len(document.get("title", "").encode()) + len(document.get("body", "").encode())
        docs, size, largest = docs + 1, size + bytes, max(largest, bytes)
    return {"docs": docs, "text_bytes": size, "largest_text_bytes": largest}


def kept(path, make):
    """A JSON value that is made once and kept in a file."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(make()))
    return json.loads(path.read_text())


def warm(path):
    """Reads a file once, so that every run finds it in the page cache (charged to nobody's group)."""
    with open(path, "rb", buffering=0) as file:
        while file.read(8 * MIB):
            pass


# Indexes


def passages_index(command, memory="256MiB", threads=2):
    """An index of the passages in the cache, built again whenever the binary differs."""
    folder, mark = CACHE / "passages.gnt", CACHE / "passages.gnt.json"
    source = passages()
    identity = [file_hash(command), memory, threads]
    with contextlib.suppress(OSError, ValueError, KeyError):
        marked = json.loads(mark.read_text())
        if marked["identity"] == identity and folder.exists():
            return folder, marked["figures"]
    remove(folder)
    mark.unlink(missing_ok=True)
    note(f"indexing {source.name}")
    figures = run([command, "index", folder, source, "--memory", memory, "--threads", threads, "--json"]).json()
    mark.write_text(json.dumps({"identity": identity, "figures": figures}))
    return folder, figures


def remove(folder):
    """Deletes an index of the cache, whether it is there or not."""
    shutil.rmtree(folder, ignore_errors=True)


def file_hash(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# Rust tests


def cargo_test(name, environment, target=("--test", "tests"), timeout=3600):
    """Runs the tests of `gannet` whose names contain `name`; gives the outcome and the figures that they wrote."""
    command = ["cargo", "test", "--release", "--locked", "-p", "gannet", *target, "--",
               name, "--nocapture", "--test-threads", "1"]
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        note(" ".join(f"{name}={value}" for name, value in environment.items()) + " " + " ".join(command))
        done = run(command, environment=environment | {"GANNET_JSON": str(figures)}, timeout=timeout)
        found = json.loads(figures.read_text()) if figures.exists() else {}
    if done.code != 0:
        note((done.output + done.errors)[-4000:])
    return done, found


def passed(done):
    """How many tests passed and failed, by the test runner's own closing lines."""
    lines = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", done.output)
    return sum(int(line[0]) for line in lines), sum(int(line[1]) for line in lines)


def names(done):
    """The names of the tests that passed, whatever they printed meanwhile."""
    found = set()
    name = None
    for line in done.output.splitlines():
        if started := re.match(r"test (\S+)(?: - .*)? \.\.\. (.*)$", line):
            name, line = started[1], started[2]
        if line == "ok" and name:
            found.add(name)
            name = None
    return found
