#!/usr/bin/env python3
"""Gannet beside five engines for Python, with little memory and without limit, on the same texts and queries."""
import argparse
import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import python_environment
from harness import CACHE, CORPORA, MIB, Claims, MemoryGroup, Unable, last_json, note, passages, remove, run, warm
from limits import UNLIMITED, Watch, forget

RUNNER = Path(__file__).parent / "python_peers_runs.py"
ENGINES = ["gannet", "gannet-dicts", "tantivy", "lancedb", "duckdb", "bm25s", "sqlite"]
# The extension of DuckDB is of one version of it.
PACKAGES = ["tantivy==0.27.0", "lancedb==0.40.0", "duckdb==1.5.5", "duckdb-extension-fts==1.5.5", "bm25s==0.3.16", "numba==0.68.1",
            "numpy==2.4.6", "pyarrow==26.0.1"]
# Of ten answers, how many another engine has to have too: they weigh lengths in other ways.
ALIKE = 7
INDEX_TIMEOUT, SEARCH_TIMEOUT = 600, 300


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist, as `make wheel` makes it")
    parser.add_argument("--corpus", type=Path, help="JSON lines (default: all passages)")
    parser.add_argument("--documents", type=int, help="of the corpus, from its beginning (default: all)")
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=ENGINES, help="those of others are taken from the result file")
    parser.add_argument("--limit", type=int, default=256, help="MiB of the memory group")
    parser.add_argument("--seconds", type=float, default=15, help="to search")
    parser.add_argument("--out")
    options = parser.parse_args()
    settings = {"limit_mib": options.limit, "seconds": options.seconds, "packages": PACKAGES, "depth": 10}
    with Claims("python-peers", options.out, **settings) as claims:
        Comparison(claims, options).run()


class Comparison:
    def __init__(self, claims, options):
        self.claims, self.options = claims, options
        self.source, self.documents = texts(options.corpus or passages(), options.documents)
        self.queries = log()
        claims.settings |= {"corpus": (options.corpus or passages()).name, "documents": self.documents,
                            "text_bytes": self.source.stat().st_size}
        wheel = python_environment.wheel(options.wheel)
        claims.settings["wheel"] = python_environment.identified(wheel)
        self.python = python_environment.made("peers-venv", [wheel, *PACKAGES])

    def run(self):
        self.claims.rows += self.earlier()
        for engine in self.options.engines:
            # Without limit first: an index that cannot be made with it is searched all the same.
            for limit in (0, self.options.limit):
                self.engine(engine, limit)
                # What was measured stays, whatever becomes of the next one.
                self.claims.result.rows = self.claims.rows
                self.claims.result.write()
            for folder in (self.folder(engine, limit) for limit in (0, self.options.limit)):
                remove(folder)
        if any(row["engine"] == "gannet" for row in self.claims.rows):
            self.compare()

    def earlier(self):
        """Rows of the result file of engines that are not asked now, if they had the same texts."""
        path = self.claims.result.path
        kept = json.loads(path.read_text()) if path.exists() else {"settings": {}, "rows": []}
        same = all(kept["settings"].get(name) == value for name, value in self.claims.settings.items())
        return [row for row in kept["rows"] if same and row["engine"] not in self.options.engines]

    def engine(self, engine, limit):
        folder = self.folder(engine, limit)
        remove(folder)
        row = self.measured(engine, "index", folder, self.source, limit, INDEX_TIMEOUT)
        whole = row.get("documents") == self.documents
        row["index_bytes"] = size(folder) if whole else None
        self.claims.rows.append(row)
        if not whole:
            remove(folder)
            folder = self.folder(engine, 0)
        if not folder.exists():
            note(f"{engine}: no index was made, so nothing is asked of it")
            return
        forget(folder)
        row = self.measured(engine, "search", folder, self.queries, limit, SEARCH_TIMEOUT)
        self.claims.rows.append(row | {"index_of_this_limit": whole})

    def folder(self, engine, limit):
        return CACHE / f"peers-{engine}-{limit}"

    def measured(self, engine, work, folder, file, limit, timeout):
        """One process in a memory group of its own."""
        warm(file)
        command = [self.python, "-I", RUNNER, engine, work, folder, file, limit, self.options.seconds]
        with MemoryGroup(limit * MIB or UNLIMITED) as group, Watch(group) as watch:
            done = run(command, group, timeout=timeout)
            figures = group.figures()
        row = {"engine": engine, "what": work, "limit_mib": limit, "exit_code": done.code, "kills": figures["kills"],
               "held_bytes": watch.most, "group_peak_bytes": figures["most_used_bytes"], "process_seconds": round(done.seconds, 3)}
        if done.code == 0:
            row |= last_json(done.output)
        elif errors := [line for line in done.errors.strip().splitlines() if not line.startswith("stage: ")]:
            row["error"] = errors[-1][:300].replace(f"{CACHE}/", "")
        stages = [line.partition(": ")[2] for line in done.errors.splitlines() if line.startswith("stage: ")]
        if stages and done.code:
            row["killed_after"] = stages[-1]
        if answers := row.pop("answers", None):
            self.answers_of(engine, limit).write_text(json.dumps(answers))
        note(" ".join(f"{name}={value}" for name, value in row.items()))
        return row

    def answers_of(self, engine, limit):
        return CACHE / f"peers-answers-{engine}-{limit}-{self.documents}.json"

    def compare(self):
        """How many of Gannet's ten documents an engine gives too, over the first queries."""
        ours = json.loads(self.answers_of("gannet", 0).read_text())
        searches = [row for row in self.claims.rows if row["what"] == "search" and "queries" in row]
        for row in searches:
            answers = json.loads(self.answers_of(row["engine"], row["limit_mib"]).read_text())
            pairs = [(set(mine), set(theirs)) for mine, theirs in zip(ours, answers) if mine]
            row["compared"] = len(pairs)
            row["alike"] = round(sum(10 * len(mine & theirs) / len(mine) for mine, theirs in pairs) / len(pairs), 2)
            self.claims.at_least(f"of ten documents alike: {name_of(row)}", row["alike"], ALIKE)
        for engine in ENGINES[2:]:
            self.ahead(engine)

    def ahead(self, peer):
        """With the limit: Gannet's rates by processor time beside a peer's. A peer that was killed is behind."""
        for work, count in (("index", "documents"), ("search", "queries")):
            rows = [row for row in self.claims.rows if row["limit_mib"] and row["what"] == work]
            if not any(row["engine"] == peer for row in rows):
                continue
            rates = {row["engine"]: row[count] / row["cpu_seconds"] for row in rows if count in row}
            if "gannet" not in rates:
                raise Unable("Gannet itself has no figure with the limit: the rows say why")
            name = f"Gannet's rate of {work} with the limit, of {peer}'s"
            if peer in rates:
                self.claims.at_least(name, round(rates["gannet"] / rates[peer], 2), 1)
            else:
                row = next(row for row in rows if row["engine"] == peer)
                self.claims.check(name, "it was killed" if row["kills"] else f"it failed: {row.get('error', row['exit_code'])}", ">= 1", row["kills"] > 0)


def name_of(row):
    return f"{row['engine']}, {row['limit_mib'] or 'no'} MiB limit"


def texts(corpus, most):
    """A file with ID and body of each document alone, and their number."""
    made, count = CACHE / "peers-texts.jsonl", 0
    CACHE.mkdir(parents=True, exist_ok=True)
    with open(corpus, encoding="utf-8") as lines, open(made, "w", encoding="utf-8") as out:
        for line in lines:
            if count == most:
                break
            document = json.loads(line)
            out.write(json.dumps({"id": document["id"], "body": document["body"]}, ensure_ascii=False) + "\n")
            count += 1
    return made, count


def log():
    """A query of the web log a line, in small letters without signs, so that no engine's language has a part in it."""
    made = CACHE / "peers-queries.txt"
    with open(CORPORA / "queries/web-log-25k.tsv", encoding="utf-8") as lines, open(made, "w", encoding="utf-8") as out:
        for line in lines:
            # Of a word that stands twice in a query some engines would count both.
            words = dict.fromkeys(re.findall(r"\w+", line.rstrip("\n").split("\t", 1)[1].lower()))
            # These are words of languages for queries.
            if words := [word for word in words if word not in ("and", "or", "not", "near")]:
                out.write(" ".join(words) + "\n")
    return made


def size(folder):
    """Bytes of the files of an index as the file system has them allocated."""
    return sum(min(path.stat().st_size, path.stat().st_blocks * 512) for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
