"""Memory of engines: what each one needs before it caches anything, and whose cache holds the index."""
import contextlib
import os
import shutil
import subprocess
import threading
from pathlib import Path

from harness import MIB, MemoryGroup, note

READ_AHEAD_KB = 128
# More than any engine takes.
UNLIMITED = 1 << 40
FLOOR_MARGIN_BYTES = 4 * MIB
SAMPLE_SECONDS = 0.02


def floor(engine, folder, queries, cache_bytes, threads, seconds):
    """The memory that an engine holds besides its cache of the index while it answers, in bytes.

    The cache of the peers is the page cache, which is not counted here; Gannet's is the frames that it has filled. The margin,
    the same for all, is there because a run must not be killed for holding a little more than another one did.
    """
    with MemoryGroup(UNLIMITED) as group, Watch(group) as watch:
        figures = engine.bench(folder, queries, cache_bytes, ["--threads", threads, "--seconds", seconds], group=group).json()
    held = max(0, watch.most - engine.own_cache_bytes(figures, cache_bytes))
    note(f"{engine.name} with {threads} threads holds {held / MIB:.1f} MiB besides its cache")
    return held + FLOOR_MARGIN_BYTES


class Watch:
    """The most memory that a group held besides file pages, sampled while the context lasts."""

    def __init__(self, group):
        self.group, self.most = group, 0
        self.over = threading.Event()
        self.thread = threading.Thread(target=self.sample, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def sample(self):
        while not self.over.wait(SAMPLE_SECONDS):
            with contextlib.suppress(OSError):
                counted = dict(line.split() for line in self.group.read("memory.stat").splitlines())
                held = int(self.group.read("memory.usage_in_bytes")) - int(counted["cache"])
                self.most = max(self.most, held)


def forget(folder):
    """Drops an index from the page cache, so that its pages are charged to the group that reads them next."""
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            with contextlib.suppress(OSError):
                os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def read(folder):
    """Reads an index into the page cache, for runs without a limit. Gannet reads past it, and fills its own as it is asked."""
    for path in sorted(Path(folder).rglob("*")):
        if path.is_file():
            with open(path, "rb") as file:
                while file.read(8 * MIB):
                    pass


def cached_bytes(folder):
    """Bytes of a folder's files in the page cache, or None where `fincore` is missing."""
    files = [str(path) for path in Path(folder).rglob("*") if path.is_file()]
    if not shutil.which("fincore"):
        return None
    told = subprocess.run(["fincore", "-b", "-n", "-o", "RES", *files], capture_output=True, text=True)
    return sum(int(line) for line in told.stdout.split())


@contextlib.contextmanager
def read_ahead(folder, kilobytes=READ_AHEAD_KB):
    """Sets the read-ahead of the folder's device while the context lasts; gives what is in force, or None."""
    setting = read_ahead_setting(folder)
    before = setting.read_text().strip() if setting else None
    try:
        if setting:
            setting.write_text(str(kilobytes))
    except OSError as error:
        note(f"read-ahead stays at {before} KiB: {error}")
    try:
        yield int(setting.read_text()) if setting else None
    finally:
        with contextlib.suppress(OSError):
            if setting:
                setting.write_text(before)


def read_ahead_setting(folder):
    device = os.stat(folder).st_dev
    place = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve()
    found = [queue for queue in (place / "queue/read_ahead_kb", place.parent / "queue/read_ahead_kb") if queue.exists()]
    return found[0] if found else None
