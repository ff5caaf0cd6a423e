"""Rows on their way to the writers of their shards, without Ray's processes."""

from __future__ import annotations

from typing import Any

import pyarrow
import pytest

import gannet
from gannet.ray import _datasink
from gannet.ray._hashing import content_digest, shard_of
from gannet.ray._writer import Job, WriterOptions

pytestmark = pytest.mark.filterwarnings("ignore")


class Writer:
    """Keeps what a shard is sent."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, str]] = []
        self.add = self

    def remote(self, rows: Any, lines: str) -> None:
        self.calls.append((rows, lines))


def sent(blocks: list[Any], monkeypatch: pytest.MonkeyPatch, shards: int = 3) -> list[Writer]:
    monkeypatch.setattr(_datasink, "answer", lambda call, shard: call)
    writers = [Writer() for _ in range(shards)]
    sink = _datasink.GannetDatasink(Job("x", "w", 1, "id", WriterOptions("32MiB")), writers)
    assert sink.write(blocks, None) == sum(block.num_rows for block in blocks)
    return writers


def table(start: int, end: int, **more: Any) -> Any:
    ids = [str(place) for place in range(start, end)]
    rows = [{"id": id, "body": f"text {id}"} | more for id in ids]
    return pyarrow.Table.from_pylist(rows)


def test_small_blocks_go_together(monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = [table(start, start + 10) for start in range(0, 500, 10)]
    writers = sent([*blocks, table(0, 0), table(500, 510, price=7)], monkeypatch)
    for shard, writer in enumerate(writers):
        # Those with other columns go by themselves.
        assert len(writer.calls) == 2
        rows = [row for rows, _ in writer.calls for row in rows.to_pylist()]
        wanted = [str(place) for place in range(510) if shard_of(str(place), 3) == shard]
        assert [row["id"] for row in rows] == wanted
        assert all(row["body"] == f"text {row['id']}" for row in rows)
        lines = "".join(lines for _, lines in writer.calls).splitlines()
        digests = [
            content_digest(sorted((name, value) for name, value in row.items())) for row in rows
        ]
        assert lines == [
            f'{digest} "{id}"' for digest, id in zip(digests, wanted, strict=True)
        ]


def test_large_blocks_go_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_datasink, "_MOST_BYTES", 4000)
    (writer,) = sent([table(0, 300), table(300, 900)], monkeypatch, shards=1)
    assert len(writer.calls) > 4
    # As many rows as have so many bytes on average.
    assert all(rows.nbytes < 5000 for rows, _ in writer.calls)
    assert [id for rows, _ in writer.calls for id in rows.column("id").to_pylist()] == [
        str(place) for place in range(900)
    ]


def test_rows_without_ids_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(gannet.InvalidError, match='no column "id" for their IDs'):
        sent([table(0, 5), pyarrow.table({"body": ["x"]})], monkeypatch)
    bad: list[tuple[list[Any], str]] = [
        (["1", None], "found nothing"),
        (["1", ""], "found nothing"),
        ([1.5], "found 1.5"),
    ]
    for ids, found in bad:
        with pytest.raises(gannet.InvalidError, match=f'column "id": .*{found}'):
            sent([pyarrow.table({"id": ids})], monkeypatch)
