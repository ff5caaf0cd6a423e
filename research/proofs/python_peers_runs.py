"""What research/proofs/python_peers.py runs in an environment that has the engines: one run, its figures as
JSON.

Not a script of its own: it has the arguments ENGINE, WORK, FOLDER, FILE, a limit in MiB, 0 for
none, and seconds to search. WORK is `index`, whose file is JSON lines with `id` and `body`, or `search`, whose file has a
query a line. Every engine indexes `body` without stems and stop words, and keeps the documents
where it can. It answers with the IDs of the ten best documents that have any of the words.
"""
import importlib
import itertools
import json
import os
import random
import re
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

DEPTH, THREADS = 10, 2
MIB = 1 << 20
WORD = re.compile(r"\w+")
# Of documents that go to an engine together.
BATCH = 10_000
# Queries whose answers are compared.
COMPARED = 200


def main(engine, work, folder, file, limit, seconds):
    engine = ENGINES[engine](Path(folder), int(limit))
    for module in engine.modules:
        importlib.import_module(module)
    figures = index(engine, file) if work == "index" else search(engine, file, float(seconds))
    print(json.dumps(figures | {"settings": engine.settings}))


def index(engine, source):
    begun = used()
    documents = engine.index(source)
    return spent(begun) | {"documents": documents}


def search(engine, file, seconds):
    """Warms up for a third of the time with the last queries, then asks the first, as many as there
    is time for. Their order is that of chance, so that a slow engine is asked a sample.
    """
    queries = Path(file).read_text(encoding="utf-8").splitlines()
    engine.open()
    answers = asked(engine, queries[:COMPARED])
    queries = queries[COMPARED:]
    random.Random(1).shuffle(queries)
    timed(engine, queries[::-1], seconds / 3)
    begun = used()
    done = timed(engine, queries, seconds)
    return spent(begun) | {"queries": done, "answers": answers}


def timed(engine, queries, seconds):
    """How many queries were answered in so many seconds, or rather more."""
    end, done = time.perf_counter() + seconds, 0
    while time.perf_counter() < end and done < len(queries):
        done += len(asked(engine, queries[done:done + engine.group]))
    return done


def asked(engine, queries):
    return [list(ids) for ids in engine.search(queries)]


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), usage.ru_utime + usage.ru_stime


def spent(begun):
    seconds, cpu = used()
    return {"seconds": round(seconds - begun[0], 3), "cpu_seconds": round(cpu - begun[1], 3)}


def documents(source):
    with open(source, encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def batches(source):
    all = documents(source)
    while batch := list(itertools.islice(all, BATCH)):
        yield batch


def words(query):
    return WORD.findall(query.lower())


def told(stage):
    """For whoever asks what a process was at when it was killed."""
    print(f"stage: {stage}", file=sys.stderr, flush=True)


class Engine:
    # What is imported before the time is taken.
    modules = []
    # Queries of one call.
    group = 64

    def __init__(self, folder, limit):
        self.folder, self.limit = folder, limit
        self.settings = {}

    def choose(self, limited, unlimited):
        """One of two settings: with a limit and without."""
        return limited if self.limit else unlimited


class Gannet(Engine):
    modules = ["gannet"]
    group = 2000

    def __init__(self, folder, limit):
        super().__init__(folder, limit)
        # Beside its budget the process holds the interpreter and what the engine does not count.
        self.settings = {"memory": self.choose(f"{limit - 96}MiB", "1GiB"), "threads": THREADS}

    def index(self, source):
        import gannet

        with gannet.open(self.folder, memory=self.settings["memory"]) as ix:
            return ix.add(source).added

    def open(self):
        import gannet

        self.ix = gannet.open(self.folder, memory=self.settings["memory"], read_only=True)

    def search(self, queries):
        found = self.ix.search_many(queries, k=DEPTH, threads=THREADS)
        return ([id for id, _ in found[place]] for place in range(len(queries)))


class GannetDicts(Gannet):
    """As the other engines take documents: Python reads the JSON. One query a call."""
    group = 1

    def index(self, source):
        import gannet

        with gannet.open(self.folder, memory=self.settings["memory"]) as ix:
            return ix.add(documents(source)).added

    def search(self, queries):
        return [self.ix.search(query, DEPTH).ids for query in queries]


class Tantivy(Engine):
    modules = ["tantivy"]

    def __init__(self, folder, limit):
        super().__init__(folder, limit)
        self.settings = {"heap_mib": self.choose(100, 1024), "threads": THREADS, "index_option": "position"}

    def index(self, source):
        import tantivy

        schema = tantivy.SchemaBuilder()
        # IDs as numbers of a fast field, which is read without unpacking documents.
        schema.add_unsigned_field("id", fast=True)
        schema.add_text_field("body", stored=True, index_option=self.settings["index_option"])
        schema = schema.build()
        self.folder.mkdir()
        writer = tantivy.Index(schema, path=str(self.folder)).writer(self.settings["heap_mib"] * MIB, THREADS)
        count = 0
        for document in documents(source):
            article, _, passage = document["id"].partition("#")
            writer.add_document(tantivy.Document.from_dict({"id": int(article) << 16 | int(passage), "body": document["body"]}, schema))
            count += 1
        writer.commit()
        writer.wait_merging_threads()
        return count

    def open(self):
        import tantivy

        self.index_ = tantivy.Index.open(str(self.folder))
        self.searcher = self.index_.searcher()
        self.pool = ThreadPoolExecutor(THREADS)

    def search(self, queries):
        return self.pool.map(self.one, queries)

    def one(self, query):
        parsed = self.index_.parse_query(" ".join(words(query)), ["body"])
        found = [address for _, address in self.searcher.search(parsed, DEPTH, count=False).hits]
        numbers = self.searcher.fast_field_values("id", found) if found else []
        return [f"{number >> 16}#{number & 0xffff}" for number in numbers]


class LanceDB(Engine):
    modules = ["lancedb", "lancedb.index", "lancedb.query", "pyarrow"]
    group = 16
    # What it takes by default would be more than the limit.
    small = {"LANCE_DEFAULT_IO_BUFFER_SIZE": str(8 * MIB), "LANCE_IO_THREADS": "2", "LANCE_CPU_THREADS": "2"}

    def __init__(self, folder, limit):
        super().__init__(folder, limit)
        os.environ.update(self.choose(self.small, {}))
        self.settings = {"memory_limit": self.choose(32, 2048), "num_workers": self.choose(1, THREADS), "with_position": True, "stem": False,
                         "remove_stop_words": False, "ascii_folding": False}

    def connect(self):
        import lancedb

        if not self.limit:
            return lancedb.connect(self.folder)
        session = lancedb.Session(index_cache_size_bytes=32 * MIB, metadata_cache_size_bytes=16 * MIB)
        return lancedb.connect(self.folder, session=session)

    def index(self, source):
        import pyarrow
        from lancedb.index import FTS

        schema = pyarrow.schema([("id", pyarrow.string()), ("body", pyarrow.string())])
        size = self.choose(BATCH // 10, BATCH)
        def rows():
            for batch in batches(source):
                for first in range(0, len(batch), size):
                    yield pyarrow.RecordBatch.from_pylist(batch[first:first + size], schema=schema)
        table = self.connect().create_table("passages", pyarrow.RecordBatchReader.from_batches(schema, rows()), schema=schema)
        told("its table is written")
        table.create_index("body", config=FTS(**self.settings))
        return table.count_rows()

    def open(self):
        self.table = self.connect().open_table("passages")
        self.pool = ThreadPoolExecutor(THREADS)

    def search(self, queries):
        return self.pool.map(self.one, queries)

    def one(self, query):
        from lancedb.query import MatchQuery

        found = self.table.search(MatchQuery(" ".join(words(query)), "body"), query_type="fts").select(["id", "_score"]).limit(DEPTH).to_arrow()
        return found["id"].to_pylist()


class DuckDB(Engine):
    modules = ["duckdb", "duckdb_extension_fts"]
    group = 2

    def __init__(self, folder, limit):
        super().__init__(folder, limit)
        self.settings = {"memory_limit": self.choose(f"{limit * 3 // 8}MiB", "8GiB"), "threads": self.choose(1, THREADS), "preserve_insertion_order": False}

    def connect(self, access):
        """Opens its file; under the limit with groups of rows that are small enough for it."""
        import duckdb
        import duckdb_extension_fts

        base = duckdb.connect(config=self.settings | {"temp_directory": str(self.folder / "spill")})
        base.execute(f"ATTACH '{self.folder / 'passages.duckdb'}' AS data ({access}{self.choose(', ROW_GROUP_SIZE 8192', '')})")
        base.execute("USE data")
        extension = next(Path(duckdb_extension_fts.__file__).parent.rglob("fts.duckdb_extension"))
        base.execute(f"LOAD '{extension}'")
        return base

    def index(self, source):
        self.folder.mkdir()
        with self.connect("READ_WRITE") as base:
            base.execute(f"CREATE TABLE passages AS SELECT id, body FROM read_json('{source}', format='newline_delimited', maximum_object_size={MIB}, columns={{id: 'VARCHAR', body: 'VARCHAR'}})")
            told("its table is written")
            base.execute("PRAGMA create_fts_index('passages', 'id', 'body', stemmer='none', stopwords='none', ignore='[^\\p{L}\\p{N}_]+', strip_accents=0)")
            base.execute("CHECKPOINT")
            return base.execute("SELECT count(*) FROM passages").fetchone()[0]

    def open(self):
        self.settings["threads"] = THREADS
        self.base = self.connect("READ_ONLY")

    def search(self, queries):
        return map(self.one, queries)

    def one(self, query):
        asked = ("SELECT id, score FROM (SELECT id, fts_main_passages.match_bm25(id, ?) AS score FROM passages) "
                 f"WHERE score IS NOT NULL ORDER BY score DESC LIMIT {DEPTH}")
        return [id for id, _ in self.base.execute(asked, [" ".join(words(query))]).fetchall()]


class Bm25s(Engine):
    modules = ["bm25s"]
    group = 256

    def __init__(self, folder, limit):
        super().__init__(folder, limit)
        self.settings = {"backend": "numba", "mmap": bool(limit), "n_threads": THREADS}

    def index(self, source):
        import bm25s
        import numpy

        ids, texts = [], []
        for document in documents(source):
            ids.append(document["id"])
            texts.append(document["body"])
        told("it has the texts")
        tokens = self.tokens(texts)
        del texts
        told("it has the tokens")
        model = bm25s.BM25(k1=1.2, b=0.75, method="lucene", backend=self.settings["backend"])
        model.index(tokens, show_progress=False)
        model.save(self.folder, show_progress=False)
        numpy.save(self.folder / "ids.npy", numpy.array(ids, dtype="S"))
        return len(ids)

    def tokens(self, texts):
        import bm25s

        return bm25s.tokenize(texts, stopwords=None, token_pattern=WORD.pattern, show_progress=False)

    def open(self):
        import bm25s
        import numpy

        self.model = bm25s.BM25.load(self.folder, mmap=self.settings["mmap"])
        self.model.backend = self.settings["backend"]
        self.ids = numpy.load(self.folder / "ids.npy", mmap_mode="r")

    def search(self, queries):
        found, scores = self.model.retrieve(self.tokens(list(queries)), k=DEPTH, n_threads=THREADS, show_progress=False)
        return ([self.ids[place].decode() for place, score in zip(*row) if score > 0] for row in zip(found, scores))


class SQLite(Engine):
    modules = ["sqlite3"]
    group = 16

    def __init__(self, folder, limit):
        super().__init__(folder, limit)
        self.settings = {"cache_mib": self.choose(64, 1024), "hash_mib": self.choose(32, 256), "optimize": True, "threads": THREADS}

    def connect(self):
        import sqlite3

        base = sqlite3.connect(self.folder / "passages.db", check_same_thread=False, isolation_level=None)
        base.execute(f"PRAGMA cache_size = {-1024 * self.settings['cache_mib']}")
        return base

    def index(self, source):
        self.folder.mkdir()
        base = self.connect()
        for setting in ("journal_mode = off", "synchronous = off", "locking_mode = exclusive"):
            base.execute(f"PRAGMA {setting}")
        base.execute("CREATE VIRTUAL TABLE passages USING fts5(id UNINDEXED, body, tokenize = 'unicode61 remove_diacritics 0')")
        base.execute("INSERT INTO passages(passages, rank) VALUES ('hashsize', ?)", [self.settings["hash_mib"] * MIB])
        base.execute("BEGIN")
        rows = ((document["id"], document["body"]) for document in documents(source))
        base.executemany("INSERT INTO passages VALUES (?, ?)", rows)
        base.execute("INSERT INTO passages(passages) VALUES ('optimize')")
        base.execute("COMMIT")
        count = base.execute("SELECT count(*) FROM passages").fetchone()[0]
        base.close()
        return count

    def open(self):
        # A connection for each thread, each with its share of the cache.
        self.settings["cache_mib"] //= THREADS
        self.bases = [self.connect() for _ in range(THREADS)]
        self.pool = ThreadPoolExecutor(THREADS)

    def search(self, queries):
        parts = [self.pool.submit(self.some, base, queries[first::THREADS]) for first, base in enumerate(self.bases)]
        found = [part.result() for part in parts]
        return (found[place % THREADS][place // THREADS] for place in range(len(queries)))

    def some(self, base, queries):
        asked = f"SELECT id FROM passages WHERE passages MATCH ? ORDER BY rank LIMIT {DEPTH}"
        either = (" OR ".join(f'"{word}"' for word in words(query)) for query in queries)
        return [[id for (id,) in base.execute(asked, [query]).fetchall()] for query in either]


ENGINES = {
    "gannet": Gannet,
    "gannet-dicts": GannetDicts,
    "tantivy": Tantivy,
    "lancedb": LanceDB,
    "duckdb": DuckDB,
    "bm25s": Bm25s,
    "sqlite": SQLite,
}

if __name__ == "__main__":
    main(*sys.argv[1:])
