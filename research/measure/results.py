"""Result files: what was measured, where and how, with every repetition. All scripts that
measure write them through `Result`.

A file has the name of the result, when and from which commit it came, the command, the machine with
its disk, all settings, and the rows. A row is one run of one program; no row is a mean or a median
of others. Files that README and docs quote are committed in docs/results/, those of a paper beside
its page; a script writes to target/results/ unless `--out` says otherwise. `scripts/claims` makes the tables
of pages from these files.
"""
import datetime
import json
import mmap
import os
import platform
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from folders import ROOT

PLACE = ROOT / "target" / "results"
# Where results are that pages quote: of the product, and of each paper. Their names are distinct.
COMMITTED = ["docs/results", "research/*/results", "research/papers/*/results"]

# Of the probe that measures how long the disk takes for a random read.
PROBE_BYTES, PROBE_READS, PAGE = 64 << 20, 1000, 4096


class Result:
    """One result file that grows: `rows` and `settings` may be changed until the last `write`."""

    def __init__(self, name, settings, out=None):
        self.path = Path(out) if out else PLACE / f"{name}.json"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.head = environment(name, self.path.parent)
        self.settings, self.rows, self.more = settings, [], {}

    def resume(self, same):
        """Takes over the rows of the file, if it has the same commit and `same` says that its
        settings fit.
        """
        if not self.path.exists():
            return
        earlier = json.loads(self.path.read_text())
        if earlier["commit"] == self.head["commit"] and same(earlier["settings"]):
            self.rows = earlier["rows"]

    def write(self):
        """Replaces the file as a whole, so that a script that is ended leaves a file that can be
        read.
        """
        unfinished = self.path.with_suffix(".unfinished")
        about = json.dumps(self.head | {"settings": self.settings} | self.more, indent=1, default=str)
        # A row a line: small, and a change of one row is a change of one line.
        rows = ",\n".join("  " + json.dumps(row, default=str) for row in self.rows)
        unfinished.write_text(about.removesuffix("\n}") + ',\n "rows": [\n' + rows + "\n ]\n}\n")
        unfinished.rename(self.path)
        return self.path


def all_committed(root=ROOT):
    """The result files that pages quote, by name."""
    paths = [path for place in COMMITTED for path in root.glob(f"{place}/*.json")]
    return {path.stem: path for path in sorted(paths, key=lambda path: path.stem)}


def committed(name, root=ROOT):
    """The result file of this name that pages quote; where a new one belongs if there is none."""
    return all_committed(root).get(name, root / "docs" / "results" / f"{name}.json")


def add_option(parser):
    """The option by which every script says where its result goes."""
    parser.add_argument("--out", metavar="FILE", help="the result file, such as docs/results/NAME.json; default: under target/")


def environment(name, folder=ROOT):
    """What a result has to say of itself before any row."""
    return {
        "result": name,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "commit": git("rev-parse", "HEAD"),
        "uncommitted_changes": bool(git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs/results", ":(exclude,glob)research/**/results/*")),
        "command": command(),
        "machine": machine() | {"disk": disk(folder)},
    }


def command():
    """The command line of this script, with its path inside the repository."""
    script = Path(sys.argv[0]).resolve()
    name = str(script.relative_to(ROOT)) if script.is_relative_to(ROOT) else script.name
    return shlex.join([name, *sys.argv[1:]])


def without_paths(text, folders):
    """The text without the places of these folders {name: path} and of the repository on this
    machine.
    """
    for name, path in folders.items():
        text = text.replace(f"{path}/", f"{name}/")
    return text.replace(f"{ROOT}/", "")


def machine():
    return {
        "processor": processor(),
        "cores": os.cpu_count(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "kernel": platform.release(),
        "load_at_start": os.getloadavg()[0],
    }


def processor():
    named = (line.partition(":")[2].strip() for line in lines_of("/proc/cpuinfo") if line.startswith("model name"))
    return next(named, None) or platform.processor() or platform.machine()


def lines_of(path):
    """The lines of a file of the system, none where the system has no such file."""
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


def disk(folder):
    """The device and file system below a folder, and how long a random read takes there."""
    device, file_system = mounted(folder)
    return {"device": device, "file_system": file_system} | random_reads(folder)


def mounted(folder):
    """Device and file system of the mount that a folder lies in, by the longest mount point."""
    folder, best = str(Path(folder).resolve()), ("", "unknown", "unknown")
    for line in lines_of("/proc/mounts"):
        device, place, kind = line.split()[:3]
        inside = folder == place or folder.startswith(place.rstrip("/") + "/")
        if inside and len(place) >= len(best[0]):
            best = (place, device, kind)
    return best[1:]


def random_reads(folder):
    """Microseconds that a read of 4 KiB past the page cache takes, one at a time, in a file that
    was just written.

    None where the file system has no such reads.
    """
    times = []
    try:
        with tempfile.NamedTemporaryFile(dir=folder) as file:
            for _ in range(PROBE_BYTES >> 20):
                file.write(os.urandom(1 << 20))
            file.flush()
            os.fsync(file.fileno())
            direct = os.open(file.name, os.O_RDONLY | os.O_DIRECT)
            with mmap.mmap(-1, PAGE) as page:
                for number in random.Random(1).choices(range(PROBE_BYTES // PAGE), k=PROBE_READS):
                    start = time.perf_counter()
                    os.preadv(direct, [page], number * PAGE)
                    times.append((time.perf_counter() - start) * 1e6)
            os.close(direct)
    except (OSError, AttributeError):  # A system without O_DIRECT has no such name either.
        return {"random_read_us_p50": None, "random_read_us_p99": None}
    shares = statistics.quantiles(times, n=100)
    return {"random_read_us_p50": round(shares[49], 1), "random_read_us_p99": round(shares[98], 1)}


def git(*arguments):
    """What git says of this repository, or None outside of one."""
    answer = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)
    return answer.stdout.strip() if answer.returncode == 0 else None
