"""Tables in and out: Arrow, pandas, polars, DuckDB, Parquet."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet
import pytest

import gannet

ROWS: dict[str, list[Any]] = {"id": ["a", "b", "c"], "body": ["one whale", "two", None], "n": [1, 2, 3]}


@pytest.mark.parametrize(
    "table",
    [
        pyarrow.table(ROWS),
        pyarrow.table(ROWS).to_batches()[0],
        pyarrow.table(ROWS).to_reader(),
        pandas.DataFrame(ROWS),
        polars.DataFrame(ROWS),
        duckdb.sql("select * from (values ('a','one whale',1),('b','two',2),('c',NULL,3)) t(id,body,n)"),
    ],
    ids=["table", "batch", "reader", "pandas", "polars", "duckdb"],
)
def test_tables_of_other_packages(ix: gannet.Index, table: Any) -> None:
    assert ix.add(table).added == 3
    assert ix["a"].source == {"id": "a", "body": "one whale", "n": 1}
    assert ix["c"].source == {"id": "c", "n": 3}
    assert ix.search("whale").ids == ["a"]


def test_many_rows_in_small_and_large_batches(ix: gannet.Index) -> None:
    frame = polars.DataFrame({"id": range(5000), "body": [f"word{n}" for n in range(5000)]})
    assert ix.add(frame).added == 5000
    batches = pyarrow.Table.from_batches(frame.to_arrow().to_batches(max_chunksize=7))
    assert ix.add(batches).replaced == 5000
    assert ix.search("word4999").ids == ["4999"]


def test_values_of_all_types(ix: gannet.Index) -> None:
    day, moment = datetime.date(2026, 11, 26), datetime.datetime(2026, 11, 26, 3, 4, 5)
    columns: dict[str, Any] = {
        "id": pyarrow.array([7], pyarrow.uint8()),
        "flag": pyarrow.array([True]),
        "single": pyarrow.array([0.1], pyarrow.float32()),
        "double": pyarrow.array([0.1]),
        "large": pyarrow.array(["x"], pyarrow.large_string()),
        "view": pyarrow.array(["v"], pyarrow.string_view()),
        "category": pyarrow.array(["c"]).dictionary_encode(),
        "list": pyarrow.array([["a", None, "b"]]),
        "struct": pyarrow.array([{"x": 1, "y": ["z"]}]),
        "day": pyarrow.array([day]),
        "moment": pyarrow.array([moment], pyarrow.timestamp("us")),
        "zone": pyarrow.array([moment], pyarrow.timestamp("ms", "UTC")),
        "money": pyarrow.array([Decimal("12.30")]),
        "nothing": pyarrow.array([None]),
    }
    ix.add(pyarrow.table(columns))
    assert ix["7"].source == {
        "id": 7,
        "flag": True,
        "single": 0.1,
        "double": 0.1,
        "large": "x",
        "view": "v",
        "category": "c",
        "list": ["a", None, "b"],
        "struct": {"x": 1, "y": ["z"]},
        "day": "2026-11-26",
        "moment": "2026-11-26T03:04:05",
        "zone": "2026-11-26T03:04:05Z",
        "money": 12.30,
    }


def table(columns: dict[str, Any]) -> pyarrow.Table:
    return pyarrow.table(columns)


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (table({"id": ["1"], "raw": [b"x"]}), {}, 'column "raw" has the type Binary'),
    (table({"s": [{"t": [datetime.timedelta(1)]}]}), {}, 'column "s.t" has the type Dur'),
    (table({"x": [1.0, float("nan")]}), {}, 'row 2: column "x": NaN'),
    (table({"x": [1]}), {"id": "y"}, 'no column "y" for the IDs: the columns are "x"'),
    (table({"y": ["a", None]}), {"id": "y"}, 'row 2: column "y": expected an ID'),
    (table({"y": [1], "id": [2]}), {"id": "y"}, 'a column "id" beside the IDs in "y"'),
    (pandas.DataFrame({"id": ["1", "2"], "mixed": ["x", 7]}), {}, "mixed"),
    (polars.DataFrame({f"c{n}": [1] for n in range(1001)}), {}, "c1000|1000|1,000"),
    (polars.DataFrame({"x": [object()]}, schema={"x": polars.Object}), {}, "."),
]


@pytest.mark.parametrize("table, options, words", BAD, ids=[words for _, _, words in BAD])
def test_a_type_that_does_not_fit_names_its_column(
    ix: gannet.Index, table: Any, options: dict[str, Any], words: str
) -> None:
    with pytest.raises(gannet.InvalidError, match=words):
        ix.add(table, **options)


def test_columns_with_ids_of_their_own_name(ix: gannet.Index) -> None:
    ix.add(polars.DataFrame({"doc": ["x", "y"], "body": ["one", "two"]}), id="doc")
    assert ix["x"].source == {"id": "x", "body": "one"}
    assert ix.add(polars.DataFrame({"id": ["p", "q"]}), atomic=True).added == 2


def test_parquet(ix: gannet.Index, tmp_path: Path) -> None:
    file = tmp_path / "rows.parquet"
    pyarrow.parquet.write_table(pyarrow.table(ROWS), file)
    assert ix.add(file).added == 3 and ix.search("whale").ids == ["a"]
    file.write_bytes(b"no parquet")
    with pytest.raises(gannet.InvalidError, match="rows.parquet"):
        ix.add(file)


def test_hits_become_tables(books: gannet.Index) -> None:
    books.update("3", {"year": "unknown", "extra": [1]})
    hits = books.search("whale")
    frame = hits.to_pandas()
    assert list(frame.columns) == ["id", "score", "title", "body", "year", "extra"]
    assert list(frame["id"]) == hits.ids and list(frame["score"]) == hits.scores
    assert hits.to_polars()["id"].to_list() == hits.ids
    with pytest.raises(gannet.InvalidError, match="do not fit into columns"):
        hits.to_arrow()
    assert books.search("times").to_arrow()["title"].to_pylist() == ["A Tale of Two Cities"]
    assert books.search("nothing").to_pandas().empty


def test_rankings_become_tables(books: gannet.Index) -> None:
    found = books.search_many({"a": "whale", "b": "nothing", "c": "times"})
    table = found.to_arrow()
    assert table.schema.names == ["query", "rank", "id", "score"]
    assert table["query"].to_pylist() == ["a", "a", "c"] and table["rank"].to_pylist() == [1, 2, 1]
    assert table.to_pydict() == found.to_columns()
    assert found.to_polars()["id"].to_list() == found.to_pandas()["id"].to_list() == ["3", "1", "2"]
    largest = duckdb.sql("select max(rank) from found")
    assert largest is not None and largest.fetchall() == [(2,)]


def test_many_rankings_are_many_batches(ix: gannet.Index) -> None:
    ix.add({"id": str(n), "body": "same"} for n in range(1000))
    table = ix.search_many(["same"] * 150, k=1000).to_arrow()
    assert table.num_rows == 150_000 and table["score"].num_chunks > 1


def test_nothing_but_the_standard_library_is_needed() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['numpy', 'pyarrow', 'pandas', 'polars']))\n"
        "import gannet, tempfile\n"
        "ix = gannet.open(tempfile.mkdtemp() + '/x.gnt', memory='16MiB')\n"
        "ix.add([{'id': '1', 'body': 'whale'}])\n"
        "assert ix.search_many(['whale']).to_columns()['id'] == ['1']\n"
        "try: ix.search('whale').to_pandas()\n"
        "except gannet.InvalidError as error: print(error)\n"
    )
    ended = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.stdout == "pandas is not installed, which is needed for this table: pip install pandas\n"
    assert (ended.returncode, ended.stderr) == (0, "")
