"""Queries by fields, hits of which each value has one, orders by ID, and tables of columns."""

from __future__ import annotations

import pickle
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

import gannet
from gannet import field

ROWS: list[dict[str, Any]] = [
    {
        "id": f"d{n:03}",
        "title": "lamp" if n % 3 else "table lamp",
        "price": n / 4,
        "count": n,
        "kind": f"k{n % 5}",
        "day": f"2024-03-{n % 28 + 1:02}",
        "open": n % 2 == 0,
        "tags": [f"t{n % 3}", f"t{n % 7}"],
    }
    for n in range(100)
] + [{"id": "bare", "title": "lamp"}]


@pytest.fixture
def shop(ix: gannet.Index) -> gannet.Index:
    ix.add(ROWS)
    return ix


def found(shop: gannet.Index, query: gannet.Query) -> set[str]:
    ids = set(shop.search(query, k=200).ids)
    assert ids == set(shop.search("*:*", k=200, filter=query).ids)
    assert ids == set(shop.search(pickle.loads(pickle.dumps(query)), k=200).ids)
    return ids


def test_queries_are_made_of_fields(shop: gannet.Index) -> None:
    price, kind, day = field("price"), field("kind"), field("day")

    def wanted(keep: Any) -> set[str]:
        return {row["id"] for row in ROWS if "price" in row and keep(row)}

    assert found(shop, price > 20) == wanted(lambda row: row["price"] > 20)
    assert found(shop, price >= 20) == wanted(lambda row: row["price"] >= 20)
    assert found(shop, price < 1.5) == wanted(lambda row: row["price"] < 1.5)
    assert found(shop, price <= 1.5) == wanted(lambda row: row["price"] <= 1.5)
    assert found(shop, price == 5) == {"d020"}
    assert found(shop, price != 5) == {row["id"] for row in ROWS} - {"d020"}
    assert found(shop, kind == "k3") == wanted(lambda row: row["kind"] == "k3")
    assert found(shop, kind.isin(["k3", "k1", "none"])) == wanted(lambda row: row["kind"] in ("k1", "k3"))
    assert found(shop, field("count").isin([7, 9.0])) == {"d007", "d009"}
    assert found(shop, field("open") == True) == wanted(lambda row: row["open"])  # noqa: E712
    for inclusive, low, high in [("both", 20, 24), ("left", 20, 23), ("right", 21, 24), ("neither", 21, 23)]:
        query = price.between(5, 6, inclusive=inclusive)  # type: ignore[arg-type]
        assert found(shop, query) == {f"d{n:03}" for n in range(low, high + 1)}, inclusive
    assert found(shop, day > date(2024, 3, 27)) == wanted(lambda row: row["day"] > "2024-03-27")
    assert found(shop, day == date(2024, 3, 5)) == wanted(lambda row: row["day"] == "2024-03-05")
    moment = datetime(2024, 3, 27, 1, tzinfo=timezone(timedelta(hours=2)))
    assert found(shop, day >= moment) == wanted(lambda row: row["day"] >= "2024-03-27")
    assert found(shop, day >= datetime(2024, 3, 27, 0, 0, 0, 1000)) == wanted(lambda row: row["day"] > "2024-03-27")
    assert found(shop, price.exists()) == wanted(lambda row: True)
    assert found(shop, ~price.exists()) == {"bare"}
    both = (price > 20) & (kind == "k3") | ~field("kind").exists()
    assert found(shop, both) == wanted(lambda row: row["price"] > 20 and row["kind"] == "k3") | {"bare"}
    assert shop.search("table", k=100, filter=price > 20).total == len(
        wanted(lambda row: row["price"] > 20 and "table" in row["title"])
    )


def test_fields_say_what_they_cannot_do() -> None:
    price = field("price")
    assert repr(price) == '<Field "price">' and price.name == "price"
    assert pickle.loads(pickle.dumps(price)).name == "price" and len({price, field("price")}) == 1
    assert str(price > 5) == str(gannet.Query.range("price", "5")).replace("[", "{").replace("}", "]")
    for wrong in (None, float("nan"), [1], object()):
        with pytest.raises(gannet.InvalidError):
            price > wrong  # type: ignore[operator]
    with pytest.raises(gannet.InvalidError, match="neither true nor false"):
        bool(price)
    with pytest.raises(gannet.InvalidError, match="at least one value"):
        price.isin([])
    with pytest.raises(gannet.InvalidError, match="give one of both"):
        price.between(1, 2, inclusive="all")  # type: ignore[arg-type]
    with pytest.raises(gannet.InvalidError, match="an empty one"):
        field("")


def test_each_value_has_one_hit(shop: gannet.Index) -> None:
    hits = shop.search("*:*", k=10, sort="-price", collapse="kind")
    assert hits.ids == ["d099", "d098", "d097", "d096", "d095", "bare"]
    assert [hit.group for hit in hits] == ["k4", "k3", "k2", "k1", "k0", None]
    assert hits.total == len(ROWS)
    behind = shop.search("*:*", k=10, sort="-price", collapse="kind", after=hits[2].sort)
    assert behind.ids == hits.ids[3:]
    best = shop.search("table", k=3, collapse="kind")
    assert len({hit.group for hit in best}) == 3 and best[0].sort == []
    again = pickle.loads(pickle.dumps(best))
    assert [hit.group for hit in again] == [hit.group for hit in best]
    assert pickle.loads(pickle.dumps(best[0])).group == best[0].group
    assert shop.search("table")[0].group is None
    with pytest.raises(gannet.InvalidError, match="several values"):
        shop.search("*:*", collapse="tags")
    with pytest.raises(gannet.InvalidError, match="no field"):
        shop.search("*:*", collapse="kinds")


def test_hits_are_ordered_by_id(shop: gannet.Index) -> None:
    ids = sorted(row["id"] for row in ROWS)
    hits = shop.search("*:*", k=30, sort="_id")
    assert hits.ids == ids[:30] and hits[0].sort == ["bare"]
    assert shop.search("*:*", k=200, sort="_id", after=hits[-1].sort).ids == ids[30:]
    mixed = shop.search("*:*", k=200, sort=["open", "-_id"])
    assert mixed.ids == ids[2::2][::-1] + ids[1::2][::-1] + ["bare"]


def test_tables_have_the_values_of_columns(shop: gannet.Index) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    names = ["id", "price", "count", "kind.keyword", "day", "open", "tags.keyword"]
    table = shop.table(names)
    assert table.names == names
    rows = pyarrow.table(table).to_pylist()
    assert len(rows) == len(ROWS)
    for row, wanted in zip(rows, ROWS, strict=True):
        assert row["id"] == wanted["id"]
        if "price" not in wanted:
            assert all(row[name] is None for name in names[1:])
            continue
        assert (row["price"], row["count"], row["open"]) == (wanted["price"], wanted["count"], wanted["open"])
        assert row["kind.keyword"] == wanted["kind"]
        assert row["day"] == datetime.fromisoformat(wanted["day"]).replace(tzinfo=UTC)
        assert row["tags.keyword"] == sorted(set(wanted["tags"]))
    some = shop.table("price", field("price") > 24)
    assert some.to_arrow().column("price").to_pylist() == [24.25, 24.5, 24.75]
    # Each stream begins anew, and later writes are in none.
    shop.add({"id": "new", "price": 90.0})
    assert some.to_arrow().num_rows == 3
    assert shop.table("price", "price:>24").to_arrow().num_rows == 4
    shop.delete("d099")
    assert shop.table(["price"], "price:>24").to_arrow().num_rows == 3
    with pytest.raises(gannet.InvalidError, match="no field"):
        shop.table("prize")


def test_large_tables_come_in_batches(ix: gannet.Index) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    ix.add({"id": str(n), "n": n, "kind": f"k{n % 11}"} for n in range(5_000))
    reader = pyarrow.RecordBatchReader.from_stream(ix.table(["n", "kind.keyword"]))
    batches = [batch.num_rows for batch in reader]
    assert sum(batches) == 5_000 and max(batches) <= 1_000
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(ix.table(["n", "kind.keyword"], "n:<22"))
    assert frame["n"].to_list() == list(range(22))
    assert frame["kind.keyword"].to_list() == [f"k{n % 11}" for n in range(22)]
