"""Tables in and out: Arrow, pandas, polars, DuckDB, Parquet."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest

import gannet
import gannet.ray
from gannet import _frames

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


def test_lists_of_tables_and_lazy_frames(ix: gannet.Index) -> None:
    frame = polars.DataFrame(ROWS)
    batches = pyarrow.table(ROWS).to_batches(max_chunksize=2)
    assert ix.add(batches).added == 3 and ix["c"].source == {"id": "c", "n": 3}
    assert ix.add(batch for batch in [frame, frame]).replaced == 6
    assert ix.add([{"id": "d"}, frame], atomic=True).added == 4
    try:
        lazy: Any = frame.lazy()
        assert ix.add(lazy).added == 3
    except gannet.InvalidError as error:
        assert "collect()" in str(error)
    broken = pyarrow.table({"id": ["x", "y"], "price": [1.0, float("nan")]})
    with pytest.raises(gannet.InvalidError, match='document 5: column "price": NaN'):
        ix.add([*batches, broken])


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
    (polars.Series("body", ["a"]), {}, r"one column.*to_frame"),
    (pandas.Series(["a"]), {}, r"one column.*to_frame"),
    (pyarrow.chunked_array([["a"]]), {}, "one column"),
    (pyarrow.dataset.dataset(table({"body": ["a"]})), {}, "to_reader|scanner"),
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
    for make in (hits.to_arrow, hits.to_polars):
        with pytest.raises(gannet.InvalidError, match='"year" has a number in one hit and a text .*fit into columns'):
            make()
    assert books.search("times").to_arrow()["title"].to_pylist() == ["A Tale of Two Cities"]
    assert books.search("nothing").to_pandas().empty


def columns_of(table: Any) -> list[str]:
    return list(table.schema.names if isinstance(table, pyarrow.Table) else table.columns)


MAKERS = ["to_pandas", "to_polars", "to_arrow"]


@pytest.mark.parametrize("make", MAKERS)
def test_tables_of_all_results_have_the_same_columns(books: gannet.Index, make: str) -> None:
    books.add({"id": "9", "by": {"name": "x"}, "score": 7, "body": "scored"})
    names = ["id", "score", "title", "body", "year", "by", "document_score"]

    def table(query: str, **options: Any) -> Any:
        return getattr(books.search(query, **options), make)()

    for query in ("whale", "nothing", "id:9", "*:*"):
        assert columns_of(table(query)) == names, query
    assert list(table("id:9")["document_score"].to_numpy()) == [7]
    assert list(table("id:9")["score"].to_numpy()) == books.search("id:9").scores
    assert columns_of(table("whale", sources=False)) == ["id", "score"]
    assert columns_of(table("nothing", fields=["title", "by.name"])) == ["id", "score", "title", "by"]
    assert columns_of(getattr(books.search("*:*")[:0], make)()) == names
    books.add({"id": "8", "score": 1, "document_score": 2})
    with pytest.raises(gannet.InvalidError, match='"score" and "document_score"'):
        table("id:8")
    assert columns_of(table("id:8", fields="document_score")) == ["id", "score", "document_score"]


def test_types_of_empty_tables_are_those_of_others(books: gannet.Index) -> None:
    some, none = books.search("whale"), books.search("nothing")
    known = ["id", "score", "title", "body"]
    for make in (gannet.Hits.to_pandas, gannet.Hits.to_polars):
        for name in known:
            assert make(some)[name].dtype == make(none)[name].dtype, name
    for name in known:
        assert some.to_arrow().schema.field(name).type == none.to_arrow().schema.field(name).type
    found, nothing = books.search_many(["whale"]), books.search_many([])
    for empty in (nothing, books.search_many(["nothing"])):
        assert list(empty.to_pandas().dtypes) == list(found.to_pandas().dtypes)
        assert empty.to_polars().schema == found.to_polars().schema
        assert empty.to_arrow().schema == found.to_arrow().schema


VALUES: list[tuple[list[Any], bool]] = [
    ([1, None, 2**60], True),
    ([1, 2.5, None], True),
    ([True, None], True),
    ([["a"], None, []], True),
    ([[1], [2.5]], True),
    ([{"a": 1}, {"b": "x"}, None], True),
    ([1, "x"], False),
    ([1, True], False),
    ([["a"], "a"], False),
    ([{"a": 1}, 1], False),
    ([{"a": 1}, [1]], False),
    ([2**70, 1], False),
]


@pytest.mark.parametrize("values, fits", VALUES, ids=[str(values) for values, _ in VALUES])
def test_values_of_all_kinds_become_columns_or_are_named(
    path: Path, values: list[Any], fits: bool
) -> None:
    # As of an index that takes any values beside each other.
    sources: list[dict[str, Any]] = [{} if value is None else {"x": value} for value in values]
    hits = [
        gannet.ray.ShardedHit(str(place), 1.0, json.dumps(source).encode())
        for place, source in enumerate(sources)
    ]
    columns = [("x", "keyword")]
    column = _frames.hits_to_pandas(hits, columns)["x"]
    assert [None if given is None else found for found, given in zip(column, values, strict=True)] == values
    for make in (_frames.hits_to_polars, _frames.hits_to_arrow):
        if not fits:
            with pytest.raises(gannet.InvalidError, match='the field "x"|of the field "x"'):
                make(hits, columns)
            continue
        found = make(hits, columns)["x"].to_pylist() if make is _frames.hits_to_arrow else make(hits, columns)["x"].to_list()
        if not isinstance(values[0], dict):
            assert found == values


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
