"""Opening, writing, reading back, deleting, closing."""

from __future__ import annotations

import gc
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import BOOKS

import gannet


def test_a_document_is_found_and_read_back(ix: gannet.Index) -> None:
    written = ix.add({"id": "1", "title": "Moby-Dick", "body": "Call me Ishmael."})
    assert (written.added, written.replaced, written.rejected) == (1, 0, 0)
    document = ix["1"]
    assert document["title"] == "Moby-Dick"
    assert (document.id, document.version, len(ix)) == ("1", 1, 1)
    assert dict(document) == document.source
    assert document.json == b'{"id":"1","title":"Moby-Dick","body":"Call me Ishmael."}'
    assert list(document) == document.keys() == ["id", "title", "body"]
    assert "title" in document and document.get("none", 7) == 7
    assert "1" in ix and "2" not in ix and ix.get("2") is None


def test_a_write_replaces_the_document_with_the_same_id(books: gannet.Index) -> None:
    written = books.add({"id": "1", "title": "again"})
    assert (written.added, written.replaced) == (1, 1)
    assert books["1"].version == 2
    assert "body" not in books["1"]


def test_integers_are_ids_too(ix: gannet.Index) -> None:
    ix.add({"id": 17, "body": "seventeen"})
    assert ix[17]["body"] == ix["17"]["body"] == "seventeen"
    with pytest.raises(gannet.InvalidError, match="expected an ID"):
        ix[1.5]  # type: ignore[index]


def test_deleting(books: gannet.Index) -> None:
    del books["1"]
    with pytest.raises(KeyError, match="has no document '?\"?1"):
        del books["1"]
    with pytest.raises(gannet.NotFoundError) as raised:
        books["1"]
    assert str(raised.value).startswith("the index ")
    assert books.delete(["2", "none"]).deleted == 1
    assert books.delete("none").deleted == 0
    assert books.delete_matching("harpoon").deleted == 1
    assert len(books) == 0 and bool(books)


def test_updates(books: gannet.Index) -> None:
    books.update("1", {"year": 1852})
    assert books["1"]["year"] == 1852 and books["1"]["title"] == "Moby-Dick"
    for options in ({}, {"expected_version": 1}):
        with pytest.raises(gannet.NotFoundError, match='no document "9" to change: .* upsert='):
            books.update("9", {"year": 1}, **options)  # type: ignore[arg-type]
    books.update("8", {"year": 1}, upsert={"title": "first"}, expected_version=0)
    with pytest.raises(gannet.ConflictError):
        books.update("8", {"year": 1}, upsert={"title": "first"}, expected_version=0)
    assert books["8"]["title"] == "first"
    books.update("9", {"year": 1}, upsert={"title": "new"})
    assert books["9"]["title"] == "new"
    books.update("1", lambda book: {**(book or {}), "seen": True})
    assert books["1"]["seen"] is True and books["1"]["year"] == 1852
    assert books.update("1", lambda book: None).added == 0
    with pytest.raises(ZeroDivisionError):
        books.update("1", lambda book: {"year": 1 // 0})
    with pytest.raises(gannet.InvalidError, match="keep the ID"):
        books.update("1", lambda book: {"id": "other"})


def test_expected_versions(books: gannet.Index) -> None:
    books.add({"id": "1", "title": "second"}, expected_version=1)
    with pytest.raises(gannet.ConflictError, match="document 1: expected version 1"):
        books.add({"id": "1", "title": "third"}, expected_version=1)
    with pytest.raises(gannet.ConflictError):
        books.add({"id": "1"}, expected_version=0)
    books.add({"id": "new"}, expected_version=0)
    books.update("1", {"title": "third"}, expected_version=2)
    with pytest.raises(gannet.ConflictError):
        books.update("1", {"title": "fourth"}, expected_version=2)
    with pytest.raises(gannet.ConflictError):
        books.delete("1", expected_version=2)
    assert books.delete("1", expected_version=3).deleted == 1


def test_a_batch_is_written_as_a_whole_or_not_at_all(books: gannet.Index) -> None:
    with books.batch() as batch:
        batch.add({"id": "4", "body": "four"})
        batch.add({"id": "1", "body": "one"}, expected_version=1)
        assert "4" not in books and len(batch) == 2
        assert batch.written is None
    assert batch.written is not None and batch.written.added == 2
    with pytest.raises(gannet.ConflictError):
        with books.batch() as batch:
            batch.add({"id": "5"})
            batch.add({"id": "1"}, expected_version=1)
    with pytest.raises(RuntimeError, match="mine"):
        with books.batch() as batch:
            batch.add({"id": "5"})
            raise RuntimeError("mine")
    assert "5" not in books
    with pytest.raises(gannet.InvalidError, match="the batch has ended"):
        batch.add({"id": "6"})


def test_a_snapshot_stays_as_it_was(books: gannet.Index) -> None:
    with books.snapshot() as before:
        books.add({"id": "4", "body": "another whale"})
        assert (len(before), before.count("whale"), books.count("whale")) == (3, 2, 3)
        assert before.search("whale").ids == ["3", "1"]
    assert before.closed
    with pytest.raises(gannet.ClosedError, match="take a new one"):
        before.search("whale")


def test_what_was_written_is_there_after_closing(path: Path) -> None:
    with gannet.open(path, memory="16MiB") as ix:
        ix.add({"id": "1", "body": "kept"})
        ix.sync()
        ix.checkpoint()
    assert ix.closed
    ix.close()
    with gannet.open(path, memory="16MiB", create=False) as again:
        assert again.search("kept").ids == ["1"]


def test_an_index_that_nobody_holds_is_closed(path: Path) -> None:
    gannet.open(path, memory="16MiB").add({"id": "1", "body": "kept"})
    gc.collect()
    with gannet.open(path, memory="16MiB") as again:
        assert again["1"]["body"] == "kept"


def test_backup_and_restore(books: gannet.Index, tmp_path: Path) -> None:
    report = books.backup(tmp_path / "backup")
    assert (report["documents"], report["incremental"]) == (3, False)
    books.add({"id": "4"})
    assert books.backup(tmp_path / "backup")["incremental"]
    gannet.restore(tmp_path / "backup", tmp_path / "again.gnt", memory="16MiB")
    with gannet.open(tmp_path / "again.gnt", memory="16MiB") as again:
        assert len(again) == 4
    with pytest.raises(gannet.InvalidError):
        books.backup(tmp_path / "again.gnt")


def test_maintenance_and_figures(books: gannet.Index) -> None:
    books.delete("2")
    books.vacuum()
    books.rebuild()
    assert books.check() == []
    stats = books.stats()
    assert stats["documents"] == 2 and stats["memory_bytes"] == 16 << 20
    assert books.fields == {"title": "standard", "body": "standard", "year": "keyword"}
    assert books.backend in ("uring", "pread") and books.memory == 16 << 20


def test_readers_beside_a_writer(books: gannet.Index, path: Path) -> None:
    books.checkpoint()
    with gannet.open(path, memory="16MiB", read_only=True) as reader:
        assert reader.read_only and len(reader) == 3
        books.add({"id": "4"})
        books.checkpoint()
        assert len(reader) == 3 and reader.refresh() and len(reader) == 4
        with pytest.raises(gannet.GannetError):
            reader.add({"id": "5"})


def test_an_index_is_iterated_counted_and_written_by_id(books: gannet.Index) -> None:
    assert [document["title"] for document in books] == [book["title"] for book in BOOKS]
    assert list(books.ids()) == ["1", "2", "3"] and books.count() == len(books) == 3
    books["a"] = {"title": "by ID"}
    books[7] = {"id": 7, "title": "by number"}
    books["1"] = books["2"].source | {"id": "1"}
    assert (books["a"]["title"], books[7]["title"], books["1"].version) == ("by ID", "by number", 2)
    with pytest.raises(gannet.InvalidError, match='has the ID "2", and is to be written as "b"'):
        books["b"] = books["2"]
    with pytest.raises(gannet.InvalidError, match="expected a document, which is a dict, found int"):
        books["b"] = 5  # type: ignore[assignment]
    found = iter(books)
    first = next(found)
    del books["3"]
    books.add({"id": "later"})
    assert [first.id, *(one.id for one in found)] == ["2", "a", "7", "1"]
    with books.snapshot() as before:
        books.delete(["a"])
        assert list(before.ids()) == ["2", "a", "7", "1", "later"] and before.count() == 5


def test_all_of_many_documents_are_iterated(ix: gannet.Index) -> None:
    ix.add({"id": str(n), "body": "x"} for n in range(2500))
    ix.delete([str(n) for n in range(0, 2500, 2)])
    assert list(ix.ids()) == [str(n) for n in range(1, 2500, 2)]
    assert sum(1 for _ in ix) == 1250
    ids = ix.ids()
    next(ids)
    ix.close()
    assert sum(1 for _ in ids) == 1249
    with pytest.raises(gannet.ClosedError):
        iter(ix)


def test_the_version_is_that_of_the_package() -> None:
    workspace = tomllib.loads((Path(__file__).parents[2] / "Cargo.toml").read_text())
    assert gannet.__version__ == workspace["workspace"]["package"]["version"]


def test_what_is_missing_is_a_file_not_found(books: gannet.Index, tmp_path: Path) -> None:
    none = tmp_path / "none"
    calls: list[Callable[[], object]] = [
        lambda: gannet.open(none, create=False),
        lambda: gannet.open(none, read_only=True),
        lambda: gannet.restore(none, tmp_path / "again"),
        lambda: books.add(none),
        lambda: books.add(f"{none}.jsonl"),
        lambda: books.add(f"{none}.parquet"),
        lambda: books.search_many(["whale"]).to_trec(none / "run.txt"),
    ]
    for call in calls:
        with pytest.raises(FileNotFoundError, match="none") as raised:
            call()
        assert isinstance(raised.value, gannet.MissingError)
    assert not none.exists()


def test_an_index_that_this_process_holds_says_so(books: gannet.Index, path: Path) -> None:
    with pytest.raises(gannet.LockedError, match="open for writing in this process already: use"):
        gannet.open(path, memory="16MiB")


def test_analyzers(path: Path) -> None:
    analyzers = {"tag": "keyword"}
    with gannet.open(path, memory="16MiB", analyzer="english", analyzers=analyzers) as ix:
        ix.add({"id": "1", "body": "The dogs were running", "tag": "New York"})
        assert ix.search("body:run").ids == ["1"]
        assert ix.search('tag:"New York"').ids == ["1"] and not ix.search("tag:york").ids


def test_settings_that_cannot_be(path: Path) -> None:
    for options, words in [
        ({"memory": "much"}, "no number of bytes"),
        ({"memory": -5}, "no number of bytes"),
        ({"memory": True}, "no number of bytes"),
        ({"memory": "1MiB"}, "at least 16 MiB"),
        ({"analyzer": "klingon"}, "klingon"),
        ({"durability": "never"}, "async, sync"),
        ({"readonly": True}, "open has no option readonly=: read_only=True"),
        ({"colour": "red"}, "open has no option colour=: it has memory=, read_only="),
        ({"backend": "magic"}, "auto, uring, pread"),
        ({"cache_size": "8MiB", "read_only": True}, "give cache_dir="),
        ({"cache_writes": "1MiB"}, "needs a cache"),
    ]:
        with pytest.raises(gannet.InvalidError, match=words):
            gannet.open(path, **options)  # type: ignore[arg-type]
    with pytest.raises(gannet.InvalidError, match="is a URL.*give read_only=True"):
        gannet.open("s3://bucket/wiki")
    with pytest.raises(gannet.InvalidError, match="give a URL as a string, and not as a Path"):
        gannet.open(Path("s3://bucket/wiki"), read_only=True)
    with pytest.raises(gannet.GannetError):
        gannet.open(path, create=False)
    assert not path.exists()


def test_a_folder_that_is_no_index(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "letter.txt").write_text("Dear reader")
    with pytest.raises(gannet.GannetError, match="other"):
        gannet.open(tmp_path / "other", memory="16MiB")


def test_a_damaged_index_says_so(path: Path) -> None:
    with gannet.open(path, memory="16MiB") as ix:
        ix.add({"id": str(n), "body": f"word{n} common"} for n in range(2000))
    pages = [file for file in path.rglob("*") if file.is_file() and file.stat().st_size > 65536]
    for file in pages:
        content = bytearray(file.read_bytes())
        for at in range(4096 + 100, len(content), 4096):
            content[at] ^= 0xFF
        file.write_bytes(content)
    with pytest.raises((gannet.DamagedError, gannet.FormatError)):
        with gannet.open(path, memory="16MiB", read_only=True) as ix:
            ix.search("common")
