"""Answers that are reused: from memory, and from a folder on flash."""

from pathlib import Path

import gannet
import pytest


def made(path: Path) -> None:
    with gannet.open(path, memory="16MiB") as ix:
        for n in range(50):
            ix.add({"id": str(n), "body": f"whale w{n % 5}"})


def test_a_folder_keeps_answers_for_the_next_handle(tmp_path: Path) -> None:
    made(tmp_path / "index")
    cache = tmp_path / "cache"
    seen = []
    for _ in range(2):
        with gannet.open(
            tmp_path / "index", memory="16MiB", read_only=True, cache_dir=cache
        ) as ix:
            answers = [ix.search("whale w3", k=5) for _ in range(2)]
            seen.append([answer.reused for answer in answers])
            assert answers[0].ids == answers[1].ids and answers[0].scores == answers[1].scores
    assert seen == [[None, "memory"], ["flash", "memory"]]
    with gannet.open(tmp_path / "index", memory="16MiB", cache_dir=cache) as ix:
        assert ix.search("whale w3", k=5).reused == "flash"
        ix.add({"id": "more", "body": "whale w3"})
        assert ix.search("whale w3", k=5).reused is None


def test_answers_of_earlier_states_are_reused_until_they_are_too_old(tmp_path: Path) -> None:
    made(tmp_path / "index")
    for ttl, reused in [(None, None), (3600, "memory"), (0, None)]:
        with gannet.open(
            tmp_path / "index", memory="16MiB", result_cache="1MiB", result_ttl=ttl
        ) as ix:
            before = ix.search("whale w3", k=100)
            ix.add({"id": f"more {ttl}", "body": "whale w3"})
            after = ix.search("whale w3", k=100)
            assert after.reused == reused, ttl
            assert len(after.ids) - len(before.ids) == (reused is None), ttl


def test_a_time_without_answers_and_a_wrong_time_are_rejected(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a time for which older answers are reused needs"):
        gannet.open(tmp_path / "index", memory="16MiB", result_ttl=30)
    for wrong in (-1, float("nan"), 1e300):
        with pytest.raises(ValueError, match="is no time: give seconds"):
            gannet.open(
                tmp_path / "index", memory="16MiB", result_cache="1MiB", result_ttl=wrong
            )


def test_no_answers_are_kept_unless_they_are_asked_for(tmp_path: Path) -> None:
    path, cache = tmp_path / "index", tmp_path / "cache"
    made(path)
    for _ in range(2):
        with gannet.open(path, memory="16MiB", read_only=True) as ix:
            assert [ix.search("whale").reused for _ in range(2)] == [None, None]
        with gannet.open(
            path, memory="16MiB", read_only=True, cache_dir=cache, result_cache=0
        ) as ix:
            assert [ix.search("whale").reused for _ in range(2)] == [None, None]


def test_a_folder_that_cannot_keep_answers_is_warned_of(tmp_path: Path) -> None:
    made(tmp_path / "index")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "answers").symlink_to(tmp_path / "index")
    with pytest.warns(UserWarning, match="no answers are kept in the cache: .*symbolic link"):
        index = gannet.open(
            tmp_path / "index", memory="16MiB", read_only=True, cache_dir=tmp_path / "cache"
        )
    with index:
        assert len(index.search("whale").ids) > 0
