"""The engines that the lab drives: how each one is built, indexed into and asked.

All take the same commands and give the same JSON names, so an engine is little more than a command line. What differs
is said here: Gannet is told its memory, the peers map their files and get the advice that serves them best.
"""
import os
import shutil
from pathlib import Path

from folders import RESEARCH
from harness import MIB, ROOT, TARGET, Unable, build, file_hash, gannet, run, seekstorm, tantivy

INDEX_MEMORY = 256 * MIB
GANNET_MEMORY_MIN = 16 * MIB
# Of the memory of an index that nobody writes, see ARCHITECTURE.md.
FRAME_SHARE = 0.8
# Holds 40,000 queries and what 32 threads need; it is part of what Lucene holds besides its cache.
LUCENE_HEAP = "128m"
LUCENE_JAVA = 21
SEEKSTORM_SHARDS = 1


class Gannet:
    """The engine of this repository; its cache is its own memory, so it is told how much it has."""
    name = "gannet"
    score_factor = 1.0
    warm_factor = 1
    filters = "common"
    # Techniques that are switched off.
    without = ()

    def __init__(self, filters=None, programs=None):
        """`programs` is a folder with both programs; otherwise they are built."""
        self.filters = filters or self.filters
        self.index_name = "gannet" if self.filters == "common" else f"gannet-{self.filters}"
        self.command = str(Path(programs) / "gannet") if programs else gannet()
        self.indexer = str(Path(programs) / "gannet-lab") if programs else gannet_lab()

    def identity(self):
        return [file_hash(self.command), file_hash(ROOT / "research/lab/src/index.rs")]

    def index(self, folder, source, commit_every, memory=INDEX_MEMORY, more=()):
        return run([self.indexer, "index", folder, source, "--memory", memory, "--threads", 2, "--commit-every", commit_every,
                    "--phrase-filters", self.filters, *more])

    def bench(self, folder, queries, cache_bytes, options, group=None):
        memory = max(GANNET_MEMORY_MIN, cache_bytes)
        options = [*options, "--without", *self.without] if self.without else options
        return run([self.command, "bench", folder, queries, "--memory", memory, "--json", *options], group=group)

    def own_cache_bytes(self, figures, cache_bytes):
        """What was read lies in frames until they are all filled."""
        return min(figures["bytes_read"]["engine"], int(FRAME_SHARE * max(GANNET_MEMORY_MIN, cache_bytes)))


class GannetRebuilt(Gannet):
    """The same, written anew after the commits: each list is in one piece."""
    name = "gannet-rebuilt"

    def __init__(self):
        super().__init__()
        self.index_name = self.name

    def index(self, folder, source, commit_every, memory=INDEX_MEMORY, more=()):
        built = super().index(folder, source, commit_every, memory, more)
        built.json()
        run([self.command, "rebuild", folder, "--memory", memory, "--json"]).json()
        return built


class WiserBase(Gannet):
    """WiSER as published, without its filters, on Gannet's storage: all matches are scored, one page is read after the other."""
    name = "wiser-base"
    filters = "none"
    without = ("pruning", "batches")


class Tantivy:
    """Tantivy, with its files mapped for random reads."""
    name = index_name = "tantivy"
    # It keeps the constant factor k1 + 1 of BM25, which changes no order.
    score_factor = 1 / 2.2
    warm_factor = 1

    def __init__(self):
        self.command = tantivy()

    def identity(self):
        return file_hash(self.command)

    def index(self, folder, source, commit_every, memory=INDEX_MEMORY, more=()):
        return run([self.command, "index", folder, source, "--memory", memory, "--threads", 2,
                    "--commit-every", commit_every, "--tokenizer", "unicode", "--json", *more])

    def bench(self, folder, queries, cache_bytes, options, group=None):
        return run([self.command, "bench", folder, queries, "--random-advice", "--json", *options], group=group)

    def own_cache_bytes(self, figures, cache_bytes):
        return 0


class TantivyMerged(Tantivy):
    """The same, its segments merged into one after the commits."""
    name = index_name = "tantivy-merged"

    def index(self, folder, source, commit_every, memory=INDEX_MEMORY, more=()):
        return super().index(folder, source, commit_every, memory, [*more, "--merge"])


class SeekStorm:
    """SeekStorm, with its files mapped for random reads, and no n-grams besides the words."""
    name = index_name = "seekstorm"
    # It keeps the factor k1 + 1 too.
    score_factor = 1 / 2.2
    warm_factor = 1
    ngrams = "none"
    # A commit of fewer than 65,536 documents is written again with the next, so an index is as one
    # commit would leave it.
    commits = 1

    def __init__(self):
        self.command = seekstorm()

    def identity(self):
        return file_hash(self.command)

    def index(self, folder, source, commit_every, memory=INDEX_MEMORY, more=()):
        """It has no setting for memory, so `memory` is not kept."""
        return run([self.command, "index", folder, source, "--memory", memory, "--threads", 2, "--shards", SEEKSTORM_SHARDS,
                    "--commit-every", commit_every, "--tokenizer", "unicode", "--ngrams", self.ngrams, "--json", *more])

    def bench(self, folder, queries, cache_bytes, options, group=None):
        return run([self.command, "bench", folder, queries, "--random-advice", "--json", *options], group=group)

    def own_cache_bytes(self, figures, cache_bytes):
        return 0


class SeekStormNgrams(SeekStorm):
    """The same with n-grams of frequent words, for phrases. It keeps the best 1,000 of each of its 38 frequent words."""
    name = index_name = "seekstorm-ngrams"
    ngrams = "mixed"


class Lucene:
    """Lucene, with its files mapped for random reads and a heap no larger than it needs."""
    name = index_name = "lucene"
    score_factor = 1.0
    # Java compiles what is hot while it warms up.
    warm_factor = 4
    heap = LUCENE_HEAP

    def __init__(self):
        self.build = TARGET / "engines" / "lucene"
        self.environment = {"JAVA_HOME": str(java_home())}
        self.launcher = ROOT / "research/peers/lucene/lucene-peer"
        build(["mvn", "-q", "-B", "package", f"-Dtarget={self.build}"], ROOT / "research/peers/lucene", self.environment)

    def identity(self):
        # The archive differs from build to build; its source and its libraries do not.
        sources = sorted((ROOT / "research/peers/lucene").rglob("*.java")) + [ROOT / "research/peers/lucene/pom.xml"]
        return [file_hash(source) for source in sources]

    def index(self, folder, source, commit_every, memory=INDEX_MEMORY, more=()):
        return run([self.launcher, self.build, "index", folder, source, "--memory", memory, "--threads", 2,
                    "--commit-every", commit_every, "--json", *more], environment=self.environment)

    def bench(self, folder, queries, cache_bytes, options, group=None):
        return run([self.launcher, self.build, "bench", folder, queries, "--random-advice", "--json", *options],
                   group=group, environment=self.environment | {"LUCENE_HEAP": self.heap})

    def own_cache_bytes(self, figures, cache_bytes):
        return 0


class LuceneMerged(Lucene):
    """The same, its segments merged into one after the commits."""
    name = index_name = "lucene-merged"

    def index(self, folder, source, commit_every, memory=INDEX_MEMORY, more=()):
        return super().index(folder, source, commit_every, memory, [*more, "--merge"])


ENGINES = {engine.name: engine for engine in (Gannet, GannetRebuilt, Tantivy, TantivyMerged, Lucene, LuceneMerged, SeekStorm, SeekStormNgrams, WiserBase)}
# Those that are asked unless others are named.
PEERS = [Tantivy.name, Lucene.name]
# Those that Gannet's rate is divided by, the fastest of them.
COMPARED = [*PEERS, SeekStorm.name, SeekStormNgrams.name]


def gannet_lab():
    """The release binary of the lab, built from this tree."""
    build(["cargo", "build", "--release", "--locked", "-p", "gannet-lab", "--target-dir", str(TARGET)], RESEARCH)
    return str(TARGET / "release" / "gannet-lab")


def java_home():
    """A JDK that is new enough: JAVA_HOME, the newest under /usr/lib/jvm, or the `java` of the path."""
    found = shutil.which("javac")
    places = [Path(os.environ["JAVA_HOME"])] if "JAVA_HOME" in os.environ else []
    places += sorted(Path("/usr/lib/jvm").glob("*")) + ([Path(found).resolve().parent.parent] if found else [])
    homes = {place: java_version(place) for place in places if (place / "bin/javac").exists()}
    best = max(homes, key=homes.get, default=None)
    if best is None or homes[best] < LUCENE_JAVA:
        raise Unable(f"no JDK of version {LUCENE_JAVA} or newer: install one, or set JAVA_HOME, or leave Lucene out by --engines")
    return best


def java_version(home):
    """The feature number of a JDK, by its release file; 0 when it does not tell."""
    with_version = [line for line in read(home / "release").splitlines() if line.startswith("JAVA_VERSION=")]
    return int(with_version[0].split('"')[1].split(".")[0]) if with_version else 0


def read(path):
    return path.read_text() if path.exists() else ""
