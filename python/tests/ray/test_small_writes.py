"""Rows that are no Dataset, small writes, and what errors say."""

from __future__ import annotations

import traceback
from pathlib import Path
from typing import Any

import numpy
import pandas
import polars
import pyarrow
import pytest
import ray
import ray.data
from shards import MEMORY, ids_in, states_in

import gannet
import gannet.ray
from gannet.ray import _rows

pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("cluster")]

FEW = [{"id": str(place), "body": f"text number{place}"} for place in range(50)]


@pytest.fixture
def uri(tmp_path: Path) -> Path:
    return tmp_path / "wiki"


@pytest.fixture
def without_actors(monkeypatch: pytest.MonkeyPatch) -> None:
    """To start an actor for each shard takes seconds."""
    monkeypatch.setattr("gannet.ray._writing.ShardWriter", None)


def write(rows: Any, uri: Path, **options: Any) -> gannet.ray.Wrote:
    given: dict[str, Any] = {"memory": MEMORY} | options
    return gannet.ray.write(rows, uri, **given)


@pytest.mark.usefixtures("without_actors")
def test_few_rows_are_written_here(uri: Path) -> None:
    assert write(FEW, uri).documents == 50
    assert write(iter([{"id": "7", "body": "changed"}, {"id": "new", "n": 1}]), uri).documents == 51
    assert write(ray.data.from_items([{"id": "last", "body": "x"}]), uri).documents == 52
    assert gannet.ray.delete(["last", "0"], uri, memory=MEMORY).documents == 50
    assert write([], uri).epoch == 4


@pytest.mark.parametrize(
    "rows",
    [
        pandas.DataFrame(FEW),
        polars.DataFrame(FEW),
        pyarrow.Table.from_pylist(FEW),
        (row for row in FEW),
        tuple(FEW),
    ],
    ids=["pandas", "polars", "arrow", "generator", "tuple"],
)
def test_tables_and_iterables_are_rows(uri: Path, rows: Any) -> None:
    assert write(rows, uri, shards=2).documents == 50
    assert ids_in(uri) == {row["id"] for row in FEW}


def test_rows_have_all_columns_that_any_has(uri: Path) -> None:
    write([{"id": "1", "a": 1}, {"id": "2", "b": "x"}], uri, shards=1)
    rows = gannet.ray.read(uri, "*:*", memory=MEMORY).take_all()
    assert {row["id"]: (row["a"], row["b"]) for row in rows} == {"1": (1, None), "2": (None, "x")}


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("rows.jsonl", "a list of dicts or a table, found str: of files ray.data.read_json"),
        ({"id": "1"}, "a list of dicts or a table, found dict"),
        (7, "a list of dicts or a table, found int"),
        (["x"], "expected rows, which are dicts, found str"),
        ([{"body": "x"}], 'no column "id" for their IDs'),
        ([{"id": "1", "x": 1}, {"id": "2", "x": "y"}], 'column "x": its values have no type'),
        ([{"id": "1", "x": float("nan")}], 'column "x": NaN'),
        ([{"id": "1", "body": "x"}, {"id": "1", "body": "y"}], 'the ID "1" has two contents'),
    ],
)
def test_rows_that_do_not_fit_are_named_and_nothing_is_written(
    uri: Path, rows: Any, words: str
) -> None:
    with pytest.raises(gannet.InvalidError, match=words) as raised:
        write(rows, uri, shards=2)
    assert "\n" not in str(raised.value)
    assert not (uri / "manifest.json").exists() and states_in(uri) == []


def test_many_rows_are_written_by_actors(uri: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rows, "TOGETHER", 20)
    assert write(FEW, uri, shards=2).documents == 50
    assert ids_in(uri) == {row["id"] for row in FEW}


def test_errors_have_no_traces_of_ray(uri: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Neither of a task and an actor, nor of a replica."""
    write(FEW, uri, shards=1)

    def shown(act: Any) -> str:
        with pytest.raises(gannet.InvalidError) as raised:
            act()
        return "".join(traceback.format_exception(raised.value))

    bad = ray.data.from_items([{"id": "1", "x": float("nan")}]).map(lambda row: row)
    with gannet.ray.open(uri, replicas=1, memory=MEMORY) as index:
        for act in [
            lambda: write(bad, uri),
            lambda: index.search('"text'),
            lambda: index.search_many(["text", '"text']),
            lambda: gannet.ray.read(uri, '"text', memory=MEMORY),
        ]:
            text = shown(act)
            assert "RayTaskError" not in text and "ray::" not in text, text
    assert "Traceback" not in capfd.readouterr().err


def test_searches_are_as_those_of_one_index(uri: Path, tmp_path: Path) -> None:
    write(FEW, uri, shards=2)
    with gannet.ray.open(uri, replicas=1, memory=MEMORY) as index:
        found = index.search_many(["number7", "nothing", "number8"], k=numpy.int64(3))
        assert [id for id, _ in found[0]] == ["7"] and found[-1] == found["2"] and found[1] == []
        assert found.queries == ["0", "1", "2"] and list(found.to_dict()["2"]) == ["8"]
        assert list(found.to_pandas()["id"]) == found.to_columns()["id"] == ["7", "8"]
        found.to_trec(tmp_path / "run.txt")
        with pytest.raises(KeyError):
            found["9"]
        with pytest.raises(IndexError):
            found[3]
        assert index.search("number7: ?", syntax="plain").ids == ["7"]
        assert index.search_many(["(number8"], syntax="plain")[0][0][0] == "8"
        plain = gannet.ray.read(uri, '"number9', syntax="plain", memory=MEMORY)
        assert [row["id"] for row in plain.take_all()] == ["9"]
        both = gannet.Query.words("text number7", operator="and")
        assert index.search(both).ids == ["7"]
        hits = index.search("number7", fields="body")
        assert hits[0].source == {"body": "text number7"} and dict(hits[0]) == hits[0].source
        assert list(hits.to_pandas().columns) == ["id", "score", "body"]
        assert list(index.search("none").to_pandas().columns) == ["id", "score", "body"]
        assert isinstance(hits[:1], gannet.ray.ShardedHits) and hits[:1].ids == ["7"]
        with pytest.raises(KeyError, match='no field "titel"; it has: body'):
            hits[0]["titel"]
        for options, words in [
            ({"k": -1}, "k=-1"),
            ({"k": 1.5}, "k=1.5: expected a whole number"),
            ({"highlight": True}, "highlight=True: name fields"),
            ({"fields": ["titel"]}, 'there is no field "titel"'),
            ({"limit": 3}, "search has no option limit=: k="),
            ({"syntax": "lucene"}, "syntax"),
        ]:
            with pytest.raises(gannet.InvalidError, match=words):
                index.search("text", **options)  # type: ignore[arg-type]
        with pytest.raises(gannet.InvalidError, match="for one query there is search"):
            index.search_many("text")
        with pytest.raises(gannet.OptionError, match="write has no option colour=: it has shards="):
            write(FEW, uri, colour="red")
