"""Result files as tables of DuckDB.

`rows` has the rows of all files that a query names, each with the name of its `file`. `result` has
a row for each file, with all that stands beside its rows. `settings` has those of each file.
Objects are structs, so `work.read_bytes` is a field of a field.
"""
import functools
import itertools
import json
import re
import tempfile
from pathlib import Path

import duckdb

from results import all_committed

MACROS = Path(__file__).with_name("macros.sql")
# Objects are always structs, and the types of all rows count.
OPTIONS = ("format = 'newline_delimited', sample_size = -1, maximum_depth = -1, map_inference_threshold = -1, "
           "field_appearance_threshold = 0, maximum_object_size = 1000000000")

NUMBERS = itertools.count()
MISSING = re.compile(r"Table with name (\w+) does not exist")


class Wrong(Exception):
    """An entry of claims.toml that cannot be evaluated; the message says why."""


@functools.cache
def place(name):
    """The path of a result file, by its name."""
    if name not in all_committed():
        raise Wrong(f"no result file is named {name!r}: expected one of docs/results or of a results folder of research")
    return all_committed()[name]


@functools.cache
def loaded(name):
    return json.loads(place(name).read_text())


@functools.cache
def database():
    found = duckdb.connect(config={"threads": 1})  # Lines without ORDER BY keep one order.
    found.execute(MACROS.read_text())
    return found


@functools.cache
def schema(_files, _views):
    """The name of a schema of their own for these files and views; their tables are made when they are asked for."""
    name = f"of_{next(NUMBERS)}"
    database().execute(f"CREATE SCHEMA {name}")
    return name


def make(table, files, views):
    """Makes a table that a query misses; gives whether there is one of this name."""
    if table == "rows":
        fill(table, [row | {"file": name} for name in files for row in loaded(name)["rows"]])
    elif table == "result":
        fill(table, [{key: value for key, value in loaded(name).items() if key != "rows"} | {"file": name} for name in files])
    elif table == "settings":
        executed("CREATE TABLE settings AS SELECT file, unnest(settings) FROM result", files, views)
    elif table in views:
        executed(f'CREATE TABLE "{table}" AS {views[table]}', files, views)
    else:
        return False
    return True


def fill(table, rows):
    """Makes a table of dicts."""
    if not rows:
        raise Wrong(f"there are no {table}")
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.writelines(json.dumps(row) + "\n" for row in rows)
        file.flush()
        database().execute(f"CREATE TABLE {table} AS FROM read_json('{file.name}', {OPTIONS})")


def ask(query, files, views):
    """The names of the columns and the lines that a query gives; `views` are queries by name."""
    return answer(query, tuple(files), tuple(views.items()))


@functools.cache
def answer(query, files, views):
    try:
        database().execute(f"SET search_path = '{schema(files, views)},main'")
        found = executed(query, files, dict(views))
        return [column[0] for column in found.description], found.fetchall()
    except duckdb.Error as error:
        raise Wrong(f"{str(error).splitlines()[0]} in the query {' '.join(query.split())}") from error


def executed(query, files, views):
    """Runs a query, and makes the tables that it misses, which may miss others."""
    while True:
        try:
            return database().execute(query)
        except duckdb.CatalogException as error:
            missing = MISSING.search(str(error))
            if not missing or not make(missing[1], files, views):
                raise
