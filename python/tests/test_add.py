"""Documents in: dicts, iterables, files, and what is rejected."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import gzip
import io
import ipaddress
import json
import sqlite3
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

import numpy
import pandas
import polars
import pyarrow
import pytest

import gannet


def lines(count: int, start: int = 0) -> Iterator[dict[str, Any]]:
    return ({"id": str(n), "body": f"word{n} common"} for n in range(start, start + count))


def test_lists_generators_and_other_mappings(ix: gannet.Index) -> None:
    assert ix.add(list(lines(3))).added == 3
    assert ix.add(lines(1000, 10)).added == 1000
    assert ix.add([]).added == 0
    assert ix.add(OrderedDict(id="o", body="ordered")).added == 1
    assert ix.search("word555").ids == ["555"] and len(ix) == 1004


def test_later_documents_replace_earlier_ones_of_the_same_stream(ix: gannet.Index) -> None:
    again = ({"id": str(n % 10), "n": n} for n in range(2000))
    written = ix.add(again)
    assert (written.added, written.replaced, len(ix)) == (2000, 1990, 10)
    assert [ix[n]["n"] for n in range(10)] == list(range(1990, 2000))


def test_an_iterable_is_asked_on_the_calling_thread(ix: gannet.Index) -> None:
    with sqlite3.connect(":memory:") as database:
        database.row_factory = sqlite3.Row
        database.execute("create table books (id, body)")
        rows = [(n, f"row{n}") for n in range(600)]
        database.executemany("insert into books values (?, ?)", rows)
        ix.add(dict(row) for row in database.execute("select * from books"))
    database.close()
    assert len(ix) == 600 and ix.search("row599").ids == ["599"]


def test_values_are_kept_as_they_are(ix: gannet.Index) -> None:
    document: dict[str, Any] = {
        "id": "1",
        "text": 'quotes " and \\ and \u2028 and 🐋',
        "list": ["a", "b"],
        "tuple": ("c",),
        "inner": {"deep": {"name": "x"}},
        "int": -(2**70),
        "float": 0.1,
        "flag": True,
        "nothing": None,
    }
    ix.add(document)
    assert ix["1"].source == {**document, "tuple": ["c"]}
    assert ix.search("inner.deep.name:x").ids == ["1"]
    ix.add({"id": "2", "day": datetime.date(2026, 11, 26), "at": datetime.datetime(2026, 1, 2, 3)})
    assert ix["2"].source == {"id": "2", "day": "2026-11-26", "at": "2026-01-02T03:00:00"}


def test_another_field_may_have_the_ids(ix: gannet.Index) -> None:
    ix.add([{"doc_no": 7, "body": "seven"}], id="doc_no")
    assert ix["7"].source == {"id": 7, "body": "seven"}
    with pytest.raises(gannet.InvalidError, match='document 1: expected an ID in the field "doc_no"'):
        ix.add([{"body": "none"}], id="doc_no")
    with pytest.raises(gannet.InvalidError, match='beside the ID in "doc_no"'):
        ix.add({"doc_no": 1, "id": 2}, id="doc_no")


def test_documents_without_an_id_get_one(ix: gannet.Index) -> None:
    ix.add([{"body": "nameless"}, {"body": "nameless"}])
    assert len(ix) == 2 and len(set(ix.search("nameless").ids)) == 2


@dataclasses.dataclass
class Author:
    name: str
    born: int | None = None


@dataclasses.dataclass
class Book:
    id: str
    by: Author
    price: Decimal = Decimal("12.30")


class Point(NamedTuple):
    id: str
    x: int


class Model:
    """As one of pydantic, which is also an iterable of pairs."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields

    def __iter__(self) -> Iterator[Any]:
        return iter(self.fields.items())


class Colour(enum.Enum):
    RED = "red"


def test_objects_with_fields_are_documents(ix: gannet.Index) -> None:
    melville = Author("Melville")
    assert ix.add(Book("1", melville)).added == 1
    assert ix["1"].source == {"id": "1", "by": {"name": "Melville", "born": None}, "price": 12.3}
    assert b'"price":12.30' in ix["1"].json
    assert ix.add([Book("2", melville), Point("3", 7), Model(id="4", by=melville)]).added == 3
    assert ix["3"].source == {"id": "3", "x": 7} and ix["4"]["by"]["name"] == "Melville"
    assert ix.add(Model(id="5", point=Point("a", 1)), expected_version=0).added == 1
    assert ix["5"]["point"] == {"id": "a", "x": 1}
    assert ix.add(Point("6", 1)).added == ix.add(Model(number="7"), id="number").added == 1
    with ix.batch() as batch:
        batch.add(Book("8", melville))
    ix["9"] = Model(by=melville)
    ix.update("9", Model(seen=True))
    assert ix["9"].source == {"by": {"name": "Melville", "born": None}, "seen": True}
    with sqlite3.connect(":memory:") as database:
        database.row_factory = sqlite3.Row
        assert ix.add(database.execute("select 'row' as id, 5 as n")).added == 1
    database.close()
    assert ix["row"].source == {"id": "row", "n": 5}
    assert ix.add(document for document in [ix["1"], ix.search("id:2")[0]]).replaced == 2


def test_values_of_other_classes(ix: gannet.Index) -> None:
    unique = uuid.UUID(int=7)
    values: list[tuple[Any, Any]] = [
        (Decimal("1E+3"), 1000),
        (Decimal("0.1"), 0.1),
        (unique, str(unique)),
        (ipaddress.ip_address("10.0.0.1"), "10.0.0.1"),
        (Path("a/b"), "a/b"),
        (Colour.RED, "red"),
        (datetime.time(1, 2), "01:02:00"),
        (numpy.int64(5), 5),
        (numpy.float32(0.5), 0.5),
        (numpy.array([1, 2]), [1, 2]),
        (numpy.datetime64("2020-01-02"), "2020-01-02"),
        (numpy.datetime64("2020-01-02T03:04:05.000000001"), "2020-01-02T03:04:05.000000001"),
        (numpy.array(["2020-01-02"], "datetime64[ns]"), ["2020-01-02T00:00:00.000000000"]),
        (numpy.datetime64("NaT"), None),
        (pandas.Timestamp("2020-01-02"), "2020-01-02T00:00:00"),
        (pandas.NaT, None),
        (pandas.NA, None),
        (pandas.Series(["a", "b"]), ["a", "b"]),
        (polars.Series(["a", "b"]), ["a", "b"]),
        (pyarrow.scalar(5), 5),
        (pyarrow.array(["a"]), ["a"]),
    ]
    for place, (given, wanted) in enumerate(values):
        # In fields of their own: a field has one kind of values.
        ix.add({"id": place, f"f{place}": given})
        assert ix[place].source[f"f{place}"] == wanted, given
    with pytest.raises(gannet.InvalidError, match='field "x"'):
        ix.add({"x": numpy.array(["2020-01-02", "NaT"], "datetime64[s]")})


def test_what_has_documents_and_is_not_taken_says_what_to_give(
    ix: gannet.Index, tmp_path: Path
) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text('{"id": "1"}\n')

    async def documents() -> AsyncIterator[dict[str, Any]]:
        yield {"id": "1"}

    with open(file) as text, open(file, "rb") as raw:
        cases: list[tuple[Any, str]] = [
            (text, "open file: add its path"),
            (raw, "open file: add its path"),
            (io.StringIO("{}"), "open file"),
            (documents(), "asynchronous: add"),
            (iter(["x"]), "document 1: .* found str"),
            (bytearray(b"x"), "found int"),
        ]
        for given, words in cases:
            with pytest.raises(gannet.InvalidError, match=words):
                ix.add(given)
    assert len(ix) == 0


BAD: list[tuple[Any, str]] = [
    ({"id": "1", "x": float("nan")}, 'field "x": NaN is no number'),
    ({"id": "1", "x": float("inf")}, 'field "x": inf is no number'),
    ({"id": "1", "x": b"bytes"}, 'field "x": expected a string.* found bytes: decode it'),
    ({"id": "1", "a": {"b": [object()]}}, 'field "a.b": expected .* found object'),
    ({"id": "1", "x": {1, 2}}, "make it a list"),
    ({1: "x"}, "expected a string as the name of a field, found int"),
    ({"id": 1.5}, "id"),
    ({"id": "1", "x": "\ud800"}, 'field "x": expected text'),
    ({"id": "x" * 600}, "512"),
    ({"id": "1", **{f"f{n}": n for n in range(1001)}}, "1000|1,000"),
    ("no such file.jsonl", "no such file.jsonl"),
    (17, "expected a dict, an iterable of dicts"),
    (b"bytes", "expected a dict, an iterable of dicts"),
    ([17], "document 1: expected a document, which is a dict, found int"),
    ([["id", "1"]], "document 1: expected a document"),
    (['{"id": "1"}'], "found str: decode JSON with json.loads"),
    ({"id": "1", "x": Decimal("NaN")}, 'field "x": NaN is no number'),
    ({"id": "1", "x": Decimal("-Infinity")}, 'field "x": -Infinity is no number'),
    ({"id": "1", "x": datetime.timedelta(1)}, 'field "x": .* found datetime.timedelta: give seconds'),
    ({"id": "1", "x": numpy.timedelta64(1, "s")}, 'field "x": .* found numpy.timedelta64: give'),
    ({"id": "1", "x": 1j}, 'field "x": .* found complex'),
    ({"id": "1", "x": (n for n in range(3))}, "found generator: make it a list"),
    ({"id": "1", "x": Path}, 'field "x": .* found type'),
    (Book, "expected a dict"),
]


@pytest.mark.parametrize("documents, words", BAD, ids=[words for _, words in BAD])
def test_bad_documents_are_errors_that_name_the_field(
    ix: gannet.Index, documents: Any, words: str
) -> None:
    with pytest.raises(gannet.InvalidError, match=words):
        ix.add(documents)
    assert len(ix) == 0
    assert isinstance(gannet.InvalidError("x"), ValueError)


def test_deep_documents_are_rejected(ix: gannet.Index) -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(gannet.InvalidError, match="nested deeper"):
        ix.add({"id": "1", "x": deep})
    # Undone level by level: freeing it at once would be deep, too.
    while isinstance(deep, list):
        deep = deep.pop()
    circle: dict[str, Any] = {"id": "1"}
    circle["self"] = circle
    with pytest.raises(gannet.InvalidError, match="nested deeper"):
        ix.add(circle)


def test_the_documents_before_a_bad_one_are_in_the_index(ix: gannet.Index) -> None:
    documents = [*lines(700), {"id": "bad", "x": b""}, *lines(10, 5000)]
    with pytest.raises(gannet.InvalidError, match="document 701: field") as raised:
        ix.add(documents)
    assert raised.value.__notes__ == ["the 700 documents before it are in the index"]
    assert len(ix) == 700
    with pytest.raises(gannet.InvalidError, match="document 2, column .*the 1 document before it"):
        ix.add([{"id": "a"}, {"id": "b", "x": [{"y": "z" * 10}], "": 1}])
    assert len(ix) == 701


def test_an_exception_of_the_iterable_is_passed_on(ix: gannet.Index) -> None:
    def documents() -> Iterator[dict[str, Any]]:
        yield from lines(5)
        raise OSError("the source is gone")

    with pytest.raises(OSError, match="the source is gone") as raised:
        ix.add(documents())
    assert raised.value.__notes__ == ["the 5 documents before it are in the index"]
    assert len(ix) == 5


def test_bad_documents_can_be_passed_over(ix: gannet.Index) -> None:
    documents = [{"id": "1"}, {"id": "2", "x": b""}, {"id": "3", "": 1}, 17, {"id": "4"}]
    written = ix.add(documents, on_error="skip")  # type: ignore[arg-type]
    assert (written.added, written.rejected) == (2, 3)
    assert [text.split(":")[0] for text in written.rejections] == [
        "the documents given, document 2",
        "the documents given, document 3, column 12",
        "the documents given, document 4",
    ] or len(written.rejections) == 3


def test_all_or_none(ix: gannet.Index) -> None:
    with pytest.raises(gannet.InvalidError, match="document 3: field"):
        ix.add([{"id": "1"}, {"id": "2"}, {"id": "3", "x": b""}], atomic=True)
    assert len(ix) == 0
    assert ix.add(lines(1000), atomic=True).added == 1000
    with pytest.raises(gannet.InvalidError, match="atomic"):
        ix.add("file.jsonl", atomic=True)


def test_files(ix: gannet.Index, tmp_path: Path) -> None:
    documents = list(lines(1000))
    text = "".join(json.dumps(document) + "\n" for document in documents)
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_text(text)
    packed.write_bytes(gzip.compress(text.replace('"id": "', '"id": "g').encode()))
    table = tmp_path / "c.csv"
    table.write_text('id,body\nc1,"one, two"\nc2,three\n')
    assert ix.add(plain).added == 1000
    assert ix.add(str(packed)).added == 1000
    assert ix.add(table).added == 2
    assert ix["c1"]["body"] == "one, two" and len(ix) == 2002
    odd = tmp_path / "odd"
    odd.write_text("id\tbody\nt1\tx\n")
    with pytest.raises(gannet.InvalidError, match="expected JSON lines"):
        ix.add(odd)
    assert ix.add(odd, format="tsv").added == 1


def test_a_bad_line_is_named(ix: gannet.Index, tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text('{"id": "1"}\n{"id": 2, "x": }\n{"id": "3"}\n')
    with pytest.raises(gannet.InvalidError, match=r"bad.jsonl, line 2, column .*; the 1 document"):
        ix.add(file)
    assert len(ix) == 1
    written = ix.add(file, on_error="skip")
    assert (written.added, written.replaced, written.rejected, len(ix)) == (2, 1, 1, 2)
    assert "bad.jsonl, line 2" in written.rejections[0]
    with pytest.raises(gannet.InvalidError, match="expected an ID in the field"):
        ix.add(file, id="x")
    for option, value in [("on_error", "maybe"), ("format", "xml")]:
        with pytest.raises(gannet.InvalidError, match=value):
            ix.add(file, **{option: value})  # type: ignore[arg-type]


def test_files_of_other_programs_are_read(ix: gannet.Index, tmp_path: Path) -> None:
    file = tmp_path / "semi.csv"
    file.write_bytes(b"sku;body\rs1;one\rs2;two\r")
    assert ix.add(file, id="sku").added == 2
    assert ix["s2"]["body"] == "two"
    file = tmp_path / "array.json"
    file.write_text('[\n {"key": "a1",\n  "body": "three"}\n]\n')
    assert ix.add(file, id="key").added == 1
    assert ix["a1"]["body"] == "three"
    file = tmp_path / "bulk.ndjson"
    file.write_text('{"index":{"_id":"b1"}}\n{"body":"four"}\n{"delete":{"_id":"s1"}}\n')
    written = ix.add(file)
    assert (written.added, written.deleted, ix["b1"]["body"]) == (1, 1, "four")
    assert "s1" not in ix
