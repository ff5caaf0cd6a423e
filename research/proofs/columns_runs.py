"""What research/proofs/columns.py runs in an environment that has the engines: one run, its figures as JSON.

Not a script of its own. Its arguments are WORK, ENGINE, FOLDER, FILE, then a JSON object of settings. WORK is `make`, which
writes rows of a seeded generator as JSON lines (ENGINE is then the texts that rows have, or `-`), `index`, or `ask`, which
asks the questions of FILE and gives processor time by kind, and the answers of the first round.
"""
import datetime
import hashlib
import itertools
import json
import random
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MIB = 1 << 20
BEGIN = datetime.datetime(2015, 1, 1, tzinfo=datetime.timezone.utc)
STEP_SECONDS, JITTER_SECONDS = 30, 3600
CATEGORIES, USERS, TAGS, TAGS_MOST = 5_000, 100_000, 1_000, 5
ARTICLE_ROWS = 18
MISSING = 0.05
KEYWORDS, NUMBERS = ["category", "user", "tags", "url"], ["length", "article", "price"]
# Of the histogram of dates: engines agree on what these are.
INTERVAL = "30d"


def main(work, engine, folder, file, settings):
    settings = json.loads(settings)
    if work == "make":
        figures = make(engine, Path(file), settings)
    else:
        figures = globals()[work](ENGINES[engine](Path(folder), settings), file, settings)
    print(json.dumps(figures))


def make(texts, file, settings):
    """Rows with eight columns, of which each is missing now and then."""
    draw = random.Random(settings["seed"])
    categories = list(itertools.accumulate(1 / rank for rank in range(1, CATEGORIES + 1)))
    bodies = open(texts, encoding="utf-8") if texts != "-" else itertools.repeat(None, settings["rows"])
    with file.open("w", encoding="utf-8") as out:
        for number, line in zip(range(settings["rows"]), bodies):
            row = {"id": str(number), **columns(draw, number, categories)}
            if line is not None:
                row["body"] = json.loads(line)["body"]
            out.write(json.dumps(row, separators=(",", ":"), ensure_ascii=False) + "\n")
    return {"rows": number + 1, "bytes": file.stat().st_size}


def columns(draw, number, categories):
    moment = BEGIN + datetime.timedelta(seconds=STEP_SECONDS * number + draw.randrange(-JITTER_SECONDS, JITTER_SECONDS))
    values = {
        "length": int(draw.lognormvariate(5, 0.6)),
        "article": number // ARTICLE_ROWS,
        "date": moment.isoformat().replace("+00:00", "Z"),
        "price": int(100 * draw.lognormvariate(8, 1)),
        "category": f"c{draw.choices(range(CATEGORIES), cum_weights=categories)[0]}",
        "user": f"u{draw.randrange(USERS)}",
        "tags": [f"t{draw.randrange(TAGS)}" for _ in range(draw.randint(1, TAGS_MOST))],
        "url": f"https://example.org/{hashlib.sha256(str(number).encode()).hexdigest()[:16]}/{number}",
        "flag": draw.random() < 0.3,
    }
    return {name: value for name, value in values.items() if draw.random() >= MISSING}


def index(engine, file, _):
    begun = used()
    documents = engine.index(file)
    return spent(begun) | {"documents": documents}


def ask(engine, file, settings):
    """Asks each kind for a time, one thread after the other or several at once; the first round warms up and is compared."""
    engine.open()
    questions = json.loads(Path(file).read_text())
    threads, seconds = settings["threads"], settings["seconds"]
    rows, answers = [], {}
    with ThreadPoolExecutor(threads) as pool:
        for kind, asked in questions.items():
            if not engine.can(kind):
                continue
            answers[kind] = list(pool.map(engine.answer, asked))
            begun, end, count = used(), time.perf_counter() + seconds, 0
            while time.perf_counter() < end:
                count += len(list(pool.map(engine.answer, asked)))
            figures = spent(begun)
            rows.append({"kind": kind, "questions": count, "cpu_us": figures["cpu_seconds"] / count * 1e6, "per_second": count / figures["seconds"]})
    return {"kinds": rows, "answers": answers}


def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), usage.ru_utime + usage.ru_stime


def spent(begun):
    seconds, cpu = used()
    return {"seconds": round(seconds - begun[0], 6), "cpu_seconds": round(cpu - begun[1], 6)}


def millis(text):
    return round(datetime.datetime.fromisoformat(text).timestamp() * 1000)


class Engine:
    """A question has `word`, `range` (field, least, greatest), `sort`, `terms` or `days`; an answer is one that can be compared."""

    def __init__(self, folder, settings):
        self.folder, self.settings = folder, settings

    def can(self, kind):
        return True


class Gannet(Engine):
    mapping = {"date": "date", "flag": "boolean", "body": "text", **dict.fromkeys(NUMBERS, "long"), **dict.fromkeys(KEYWORDS, "keyword")}

    def index(self, file):
        import gannet

        with gannet.open(self.folder, memory=self.settings["memory"], mapping=self.mapping) as ix:
            return ix.add(file).added

    def open(self):
        import gannet

        self.ix = gannet.open(self.folder, memory=self.settings["memory"], read_only=True)

    def answer(self, question):
        query = f"body:{question['word']}" if "word" in question else "*"
        wanted = {"sources": False, "k": question.get("k", 0), "count": "k" not in question}
        if "range" in question:
            field, least, greatest = question["range"]
            wanted["filter"] = f'{field}:["{least}" TO "{greatest}"]'
        if "sort" in question:
            wanted["sort"] = question["sort"]
        if "terms" in question:
            wanted["facets"] = {question["terms"]: 10}
        if "days" in question:
            wanted["aggs"] = {"days": {"date_histogram": {"field": "date", "fixed_interval": INTERVAL}}}
        found = self.ix.search(query, **wanted)
        if "terms" in question:
            return [count for _, count in found.facets[question["terms"]]]
        if "days" in question:
            return [bucket["doc_count"] for bucket in found.aggs["days"]["buckets"]]
        if "sort" in question:
            return [millis(value) if isinstance(value, str) else value for hit in found for value in hit.sort]
        return len(found.ids) if "k" in question else found.total


class Tantivy(Engine):
    def index(self, file):
        import tantivy

        schema = tantivy.SchemaBuilder()
        schema.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        for name in KEYWORDS:
            schema.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
        for name in NUMBERS:
            schema.add_integer_field(name, indexed=True, fast=True)
        schema.add_date_field("date", indexed=True, fast=True)
        schema.add_boolean_field("flag", indexed=True, fast=True)
        schema.add_text_field("body", stored=True, index_option="position")
        self.folder.mkdir()
        writer = tantivy.Index(schema.build(), path=str(self.folder)).writer(self.settings["heap_mib"] * MIB, 2)
        count = 0
        with open(file, encoding="utf-8") as lines:
            for line in lines:
                writer.add_json(line)
                count += 1
        writer.commit()
        writer.wait_merging_threads()
        return count

    def open(self):
        import tantivy

        self.tantivy, self.index_ = tantivy, tantivy.Index.open(str(self.folder))
        self.schema, self.searcher = self.index_.schema, self.index_.searcher()

    def query(self, question):
        make, parts = self.tantivy.Query, []
        if "word" in question:
            parts.append((self.tantivy.Occur.Must, self.index_.parse_query(question["word"], ["body"])))
        if "range" in question:
            field, least, greatest = question["range"]
            if field == "date":
                bounds = [datetime.datetime.fromisoformat(bound) for bound in (least, greatest)]
                parts.append((self.tantivy.Occur.Must, make.range_query(self.schema, field, self.tantivy.FieldType.Date, *bounds)))
            else:
                parts.append((self.tantivy.Occur.Must, make.range_query(self.schema, field, self.tantivy.FieldType.Integer, least, greatest)))
        if not parts:
            return make.all_query()
        return parts[0][1] if len(parts) == 1 else make.boolean_query(parts)

    def answer(self, question):
        query = self.query(question)
        if "terms" in question:
            found = self.searcher.aggregate(query, {"a": {"terms": {"field": question["terms"], "size": 10}}})
            return [bucket["doc_count"] for bucket in found["a"]["buckets"]]
        if "days" in question:
            found = self.searcher.aggregate(query, {"a": {"date_histogram": {"field": "date", "fixed_interval": INTERVAL}}})
            return [bucket["doc_count"] for bucket in found["a"]["buckets"]]
        if "sort" in question:
            field = question["sort"].lstrip("-")
            found = self.searcher.search(query, question["k"], count=False, order_by_field=field, order=self.tantivy.Order.Desc)
            # Dates are nanoseconds here.
            return [value // 1_000_000 if field == "date" else value for value, _ in found.hits]
        if "k" in question:
            return len(self.searcher.search(query, question["k"], count=False).hits)
        return self.searcher.search(query, 1, count=True).count


class DuckDB(Engine):
    types = {"id": "VARCHAR", "date": "TIMESTAMP", "flag": "BOOLEAN", "tags": "VARCHAR[]", "body": "VARCHAR", **dict.fromkeys(NUMBERS, "BIGINT"),
             "category": "VARCHAR", "user": "VARCHAR", "url": "VARCHAR"}

    def connect(self, access):
        import duckdb

        base = duckdb.connect(config={"memory_limit": self.settings["duckdb_memory"], "threads": self.settings["threads"]})
        base.execute(f"ATTACH '{self.folder / 'rows.duckdb'}' AS data ({access})")
        base.execute("USE data")
        return base

    def index(self, file):
        self.folder.mkdir()
        columns = ", ".join(f'"{name}": \'{kind}\'' for name, kind in self.types.items())
        with self.connect("READ_WRITE") as base:
            base.execute(f"CREATE TABLE docs AS SELECT * FROM read_json('{file}', format='newline_delimited', maximum_object_size={MIB}, columns={{{columns}}})")
            base.execute("CHECKPOINT")
            return base.execute("SELECT count(*) FROM docs").fetchone()[0]

    def open(self):
        self.base = self.connect("READ_ONLY")

    def can(self, kind):
        # It has no index of words.
        return "word" not in kind

    def answer(self, question):
        base, where, given = self.base.cursor(), "", []
        base.execute("USE data")
        if "range" in question:
            field, least, greatest = question["range"]
            where, given = f' WHERE "{field}" BETWEEN ? AND ?', [least.removesuffix("Z") if isinstance(least, str) else least,
                                                                 greatest.removesuffix("Z") if isinstance(greatest, str) else greatest]
        if "terms" in question:
            field = question["terms"]
            rows = "(SELECT unnest(list_distinct(tags)) AS tags FROM docs)" if field == "tags" else "docs"
            return [count for _, count in base.execute(f'SELECT "{field}", count(*) AS n FROM {rows} WHERE "{field}" IS NOT NULL GROUP BY 1 ORDER BY n DESC LIMIT 10').fetchall()]
        if "days" in question:
            asked = "SELECT time_bucket(INTERVAL 30 DAY, date, TIMESTAMP '1970-01-01') AS days, count(*) FROM docs WHERE date IS NOT NULL GROUP BY 1 ORDER BY 1"
            return [count for _, count in base.execute(asked).fetchall()]
        if "sort" in question:
            field = question["sort"].lstrip("-")
            value = "epoch_ms(date)" if field == "date" else f'"{field}"'
            return [value for (value,) in base.execute(f'SELECT {value} FROM docs ORDER BY "{field}" DESC NULLS LAST LIMIT {question["k"]}').fetchall()]
        return base.execute(f"SELECT count(*) FROM docs{where}", given).fetchone()[0]


ENGINES = {"gannet": Gannet, "tantivy": Tantivy, "duckdb": DuckDB}

if __name__ == "__main__":
    main(*sys.argv[1:])
