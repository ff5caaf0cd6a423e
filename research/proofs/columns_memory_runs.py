"""What research/proofs/columns_memory.py runs in an environment that has Gannet and DuckDB.

Not a script of its own. Its arguments are WORK, PLACE, FILE, then a JSON object of settings. WORK is
`ask`, which asks the aggregations of FILE with several threads and writes their answers, or
`compare`, which compares the answers of FILE with those of DuckDB.
"""
import json
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

TIMEOUT = 300


def main(work, place, file, settings):
    print(json.dumps(globals()[work](place, json.loads(Path(file).read_text()), json.loads(settings))))


def ask(place, asked, settings):
    import gannet

    index, lock = gannet.open(place, memory=settings["memory"]), threading.Lock()
    names, answers = list(asked), Counter()

    def answered(number):
        for at in range(len(names)):
            name = names[(number + at) % len(names)]
            try:
                found = {"answer": index.search("*", 0, aggs=asked[name], sources=False, timeout=TIMEOUT).aggs}
            except gannet.GannetError as error:
                found = {"refused": f"{type(error).__name__}: {error}"}
            # Texts take less memory than what they say, and each is kept once.
            text = json.dumps(found)
            with lock:
                answers[name, text] += 1

    begun = time.perf_counter()
    with ThreadPoolExecutor(settings["threads"]) as pool:
        list(pool.map(answered, range(settings["threads"])))
    seconds = round(time.perf_counter() - begun, 1)
    with open(settings["answers"], "w", encoding="utf-8") as out:
        for (name, text), times in answers.items():
            out.write(json.dumps({"name": name, "times": times})[:-1] + ", " + text[1:] + "\n")
    return {"seconds": seconds, "answers": answers.total()}


def compare(place, rows, _):
    import duckdb
    from flights_answers import compared
    from flights_sql import Oracle

    base = duckdb.connect(config={"threads": 2, "memory_limit": "6GiB"})
    base.execute(f"ATTACH '{place}' AS data (READ_ONLY)")
    base.execute("CREATE TEMP VIEW docs AS SELECT * FROM data.docs")
    wrong = []
    for row in rows:
        aggs, own = row["aggs"], row["aggs"].get("a", {})
        oracle = Oracle(base, ["tags"], {}, aggs, "true")
        if "composite" in own and row.get("processes", 1) == 1:
            # This was the first page alone.
            oracle.rows[("a",)][()] = oracle.rows[("a",)][()][:own["composite"]["size"]]
        if differs := compared(oracle, aggs, row["answer"]):
            wrong.append({"name": row["name"], "differs": differs[:3]})
    return {"wrong": wrong}


if __name__ == "__main__":
    main(*sys.argv[1:])
