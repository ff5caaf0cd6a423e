"""Filters, orders and counts by values."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import gannet
from gannet import Query

ROWS = [
    {
        "id": str(n),
        "title": "lamp" if n % 3 else "table lamp",
        "price": n / 4,
        "kind": f"k{n % 5}",
        "day": f"2024-03-{n % 28 + 1:02}",
    }
    for n in range(100)
]


@pytest.fixture
def shop(ix: gannet.Index) -> gannet.Index:
    ix.add(ROWS)
    return ix


def test_filters_leave_scores_as_they_are(shop: gannet.Index) -> None:
    plain = {hit.id: hit.score for hit in shop.search("table", k=100)}
    found = shop.search("table", k=100, filter="price:[5 TO 10] kind:k1")
    wanted = {row["id"] for row in ROWS if 5 <= float(str(row["price"])) <= 10 and row["kind"] == "k1"}
    assert set(found.ids) == wanted & set(plain)
    assert all(plain[hit.id] == hit.score for hit in found)
    both = shop.search("table", k=100, filter=["price:[5 TO 10]", Query.words("k1", "kind")])
    assert both.ids == found.ids


def test_hits_are_ordered_by_values(shop: gannet.Index) -> None:
    hits = shop.search("*:*", k=7, sort="-price")
    assert hits.ids == ["99", "98", "97", "96", "95", "94", "93"]
    assert hits[0].sort == [24.75] and hits.total == 100
    behind = shop.search("*:*", k=2, sort="-price", after=hits[-1].sort)
    assert behind.ids == ["92", "91"]
    by_kind = shop.search("*:*", k=3, sort=["-kind", "day", "-price"])
    assert [hit.sort[0] for hit in by_kind] == ["k4", "k4", "k4"]
    assert by_kind[0].sort[1] == "2024-03-01T00:00:00.000Z"
    assert pickle.loads(pickle.dumps(hits))[0].sort == [24.75]
    with pytest.raises(gannet.InvalidError, match="no field"):
        shop.search("*:*", sort="prize")


def test_values_are_compared_as_a_whole(shop: gannet.Index) -> None:
    wanted = {row["id"] for row in ROWS if row["kind"] in ("k1", "k4")}
    query = Query.one_of("kind", ["k1", "k4", "k"])
    assert set(shop.search(query, k=100).ids) == wanted == set(shop.search("kind:=(k1 k4)", k=100).ids)
    assert str(query) == 'kind:=("k1" "k4" "k")'
    assert pickle.loads(pickle.dumps(query)) == query
    assert shop.search("price:=(5 7.50)").ids == ["20", "30"]
    assert shop.search("title:=lamp").total == 66
    with pytest.raises(gannet.InvalidError, match="at least one value"):
        Query.one_of("kind", [])


def test_values_are_counted(shop: gannet.Index) -> None:
    aggs = {
        "months": {"date_histogram": {"field": "day", "calendar_interval": "month"}},
        "cheap": {"filter": "price:<5", "aggs": {"mean": {"avg": {"field": "price"}}}},
    }
    hits = shop.search("*:*", k=0, facets={"kind": 2}, aggs=aggs)
    assert hits.facets == {"kind": [("k0", 20), ("k1", 20)]}
    assert hits.aggs["months"]["buckets"][0]["doc_count"] == 100
    assert hits.aggs["cheap"] == {"doc_count": 20, "mean": {"value": 2.375}}
    assert pickle.loads(pickle.dumps(hits)).facets == hits.facets
    assert shop.search("lamp").facets == {}
    with pytest.raises(gannet.InvalidError, match="words"):
        shop.search("*:*", aggs={"a": {"filter": "title:[a TO b]"}})
    with pytest.raises(gannet.InvalidError, match="geohash_grid"):
        shop.search("*:*", aggs={"a": {"geohash_grid": {"field": "day"}}})


def test_types_are_declared(tmp_path: Path) -> None:
    mapping: dict[str, str | dict[str, object]] = {
        "price": "double",
        "added": {"type": "date", "ignore_malformed": True},
        "note": {"type": "text", "analyzer": "english"},
    }
    path = tmp_path / "typed.gnt"
    with gannet.open(path, memory="16MiB", mapping=mapping) as ix:
        ix.add({"id": "1", "price": "7", "added": "2023-05", "note": "Running"})
        ix.add({"id": "2", "price": 2, "added": "soon"})
        with pytest.raises(gannet.InvalidError, match='"price".*double.*"cheap"'):
            ix.add({"id": "3", "price": "cheap"})
        assert ix.search("*:*", sort="price").ids == ["2", "1"]
        assert ix.search("added:[2023 TO 2024]").ids == ix.search("note:run").ids == ["1"]
    with gannet.open(path, memory="16MiB") as ix, pytest.raises(gannet.InvalidError, match="declared as double"):
        ix.add({"price": "cheap"})
    with pytest.raises(gannet.InvalidError, match='"price".*cannot become long'):
        gannet.open(path, memory="16MiB", mapping={"price": "long"})
    with pytest.raises(gannet.InvalidError, match="use text, keyword, long"):
        gannet.open(path, memory="16MiB", mapping={"price": "integer"})


def test_multi_fields_and_nulls_are_declared(tmp_path: Path) -> None:
    mapping: dict[str, str | dict[str, object]] = {
        "title": {
            "type": "text",
            "fields": {"raw": {"type": "keyword", "ignore_above": 8, "null_value": "none"}},
        },
        "year": {"type": "long", "null_value": 1900},
    }
    with gannet.open(tmp_path / "multi.gnt", memory="16MiB", mapping=mapping) as ix:
        ix.add({"id": "1", "title": "Wet dogs", "year": None})
        ix.add({"id": "2", "title": ["much too long", "dry"], "year": 2001})
        ix.add({"id": "3", "title": None})
        hits = ix.search("*:*", sort="title.raw", facets=["title.raw", "year"])
        assert hits.ids == ["1", "2", "3"]
        assert dict(hits.facets["title.raw"]) == {"Wet dogs": 1, "dry": 1, "none": 1}
        assert dict(hits.facets["year"]) == {1900: 1, 2001: 1}
        assert ix.search('title.raw:"Wet dogs"').ids == ix.search("year:1900").ids == ["1"]
        with pytest.raises(gannet.InvalidError, match="takes the values of"):
            ix.add({"title.raw": "x"})
