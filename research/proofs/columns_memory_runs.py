"""What research/proofs/columns_memory.py runs in an environment that has DuckDB: which answers are wrong.

Not a script of its own. Its arguments are the database with the rows, and a file of answers.
"""
import json
import sys
from pathlib import Path

import duckdb

sys.path.insert(0, str(Path(__file__).parent))
from flights_answers import compared
from flights_sql import Oracle

# What is unnested before it is counted.
LISTS = ["tags"]


def main(database, answers):
    base = duckdb.connect(config={"threads": 2, "memory_limit": "6GiB"})
    base.execute(f"ATTACH '{database}' AS data (READ_ONLY)")
    base.execute("CREATE TEMP VIEW docs AS SELECT * FROM data.docs")
    wrong = []
    for row in json.loads(Path(answers).read_text()):
        aggs, own = row["aggs"], row["aggs"].get("a", {})
        oracle = Oracle(base, LISTS, {}, aggs, "true")
        if "composite" in own and row.get("processes", 1) == 1:
            # This was the first page alone.
            oracle.rows[("a",)][()] = oracle.rows[("a",)][()][:own["composite"]["size"]]
        if differs := compared(oracle, aggs, row["answer"]):
            wrong.append({"name": row["name"], "differs": differs[:3]})
    print(json.dumps({"wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
