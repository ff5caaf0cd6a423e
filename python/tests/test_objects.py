"""Indexes that are published on object storage."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from s3_server import S3Server

import gannet


@pytest.fixture
def url(tmp_path: Path, s3: S3Server) -> str:
    return f"s3://published{tmp_path}"


def test_what_is_published_is_searched(books: gannet.Index, url: str, tmp_path: Path) -> None:
    first = books.publish(url)
    assert (first["documents"], first["publication"], first["is_new"]) == (3, 1, True)
    assert first["bytes_sent"] > 0 and first["objects_not_removed"] is None
    cache = {"cache_dir": tmp_path / "cache", "cache_size": "16MiB"}
    for options in ({}, cache):
        with gannet.open(url, memory="16MiB", read_only=True, **options) as ix:  # type: ignore[arg-type]
            assert (ix.path, ix.backend, len(ix)) == (url, "s3", 3)
            found, wanted = ix.search("whale"), books.search("whale")
            assert found.ids == wanted.ids and found.scores == wanted.scores
            assert ix["3"]["title"] == "The Whale"
            assert len(pickle.loads(pickle.dumps(ix))) == 3


def test_a_reader_moves_to_what_is_published_later(books: gannet.Index, url: str) -> None:
    books.publish(url)
    with gannet.open(url, memory="16MiB", read_only=True) as ix:
        assert not books.publish(url)["is_new"] and not ix.refresh()
        books.add({"id": "4", "body": "another whale"})
        assert books.publish(url)["publication"] == 2
        assert len(ix) == 3 and ix.refresh() and len(ix) == 4


def test_what_is_published_is_restored(books: gannet.Index, url: str, tmp_path: Path) -> None:
    books.publish(url)
    gannet.restore(url, tmp_path / "again", memory="16MiB")
    with gannet.open(tmp_path / "again", memory="16MiB") as ix:
        assert len(ix) == 3 and ix.check() == []


def test_what_was_removed_is_expired(books: gannet.Index, url: str) -> None:
    books.publish(url)
    with gannet.open(url, memory="16MiB", read_only=True) as ix:
        assert gannet._native.ObjectFolder(url).remove_all() > 0
        with pytest.raises(gannet.ExpiredError, match="which was removed"):
            ix.refresh()


def test_bad_uses_of_urls_say_what_to_do(books: gannet.Index, url: str, tmp_path: Path) -> None:
    with pytest.raises(gannet.FormatError, match="nothing is published here"):
        gannet.open(url, read_only=True)
    with pytest.raises(gannet.FormatError, match="nothing is published here"):
        gannet.restore(url, tmp_path / "again")
    with pytest.raises(gannet.InvalidError, match=r"is a URL: publish\(\) copies an index there"):
        books.backup(url)
    with pytest.raises(gannet.InvalidError, match="expected s3://BUCKET/PREFIX"):
        books.publish("gs://bucket/wiki")
    with pytest.raises(gannet.InvalidError, match="keep=-1"):
        books.publish(url, keep=-1)
    with pytest.raises(gannet.InvalidError, match="memory for publishing"):
        books.publish(url, memory="1MiB")
    books.publish(url)
    with gannet.open(url, memory="16MiB", read_only=True) as ix:
        with pytest.raises(gannet.GannetError, match=r"read"):
            ix.add({"id": "9"})


def test_a_folder_that_is_no_cache_is_warned_of(books: gannet.Index, tmp_path: Path) -> None:
    books.checkpoint()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("x")
    with pytest.warns(UserWarning, match="read past the cache: .*notes.txt"):
        index = gannet.open(
            books.path, read_only=True, cache_dir=tmp_path / "other", cache_size="16MiB"
        )
    with index:
        assert index.search("whale").ids == books.search("whale").ids
