"""What research/proofs/columns_sizes.py runs in an environment that has the engines: bytes by column.

Not a script of its own. Its arguments are ENGINE, FOLDER, the file of rows and the command.
"""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from columns_runs import KEYWORDS, MIB, NUMBERS, DuckDB, Gannet

COLUMNS = [*KEYWORDS, *NUMBERS, "date", "flag"]
NODE = 4096


def main(engine, folder, file, command):
    sizes = []
    for name, columns in {**{column: [column] for column in COLUMNS}, "all": COLUMNS}.items():
        sizes.append({"column": name} | globals()[engine](Path(folder) / name, file, columns, command))
    print(json.dumps({"columns": sizes}))


def rows(file, columns):
    with open(file, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            yield {name: row[name] for name in columns if name in row}


def gannet(folder, file, columns, command):
    import gannet as package

    mapping = {name: {"type": Gannet.mapping[name], "terms": False} for name in columns}
    with package.open(folder, memory="256MiB", mapping=mapping) as index:
        index.add(rows(file, columns))
    before = nodes(folder, command)
    with package.open(folder, memory="256MiB") as index:
        index.rebuild()
    return {"bytes": nodes(folder, command) * NODE, "bytes_before_rebuild": before * NODE}


def nodes(folder, command):
    """What `gannet stats` says of the tree of columns."""
    told = subprocess.run([command, "stats", folder, "--json"], check=True, capture_output=True)
    return json.loads(told.stdout)["trees"]["columns"]["nodes"]


def duckdb(folder, file, columns, _):
    folder.mkdir()
    engine = DuckDB(folder, {"duckdb_memory": "8GiB", "threads": 2})
    types = ", ".join(f'"{name}": \'{DuckDB.types[name]}\'' for name in columns)
    with engine.connect("READ_WRITE") as base:
        base.execute(f"CREATE TABLE docs AS SELECT * FROM read_json('{file}', format='newline_delimited', columns={{{types}}})")
        base.execute("CHECKPOINT")
    return {"bytes": (folder / "rows.duckdb").stat().st_size}


def tantivy(folder, file, columns, _):
    import tantivy as package

    schema = package.SchemaBuilder()
    for name in columns:
        if name in KEYWORDS:
            schema.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
        elif name in NUMBERS:
            schema.add_integer_field(name, fast=True)
        else:
            (schema.add_date_field if name == "date" else schema.add_boolean_field)(name, fast=True)
    folder.mkdir()
    writer = package.Index(schema.build(), path=str(folder)).writer(256 * MIB, 2)
    for row in rows(file, columns):
        writer.add_json(json.dumps(row))
    writer.commit()
    writer.wait_merging_threads()
    return {"bytes": sum(path.stat().st_size for path in folder.glob("*.fast"))}


if __name__ == "__main__":
    main(*sys.argv[1:])
