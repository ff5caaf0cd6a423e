"""What the tests share: small indexes in temporary folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import gannet

BOOKS = [
    {"id": "1", "title": "Moby-Dick", "body": "Call me Ishmael. The white whale.", "year": 1851},
    {"id": "2", "title": "A Tale of Two Cities", "body": "It was the best of times.", "year": 1859},
    {"id": "3", "title": "The Whale", "body": "A whale, a harpoon and a rope.", "year": 1851},
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "books.gnt"


@pytest.fixture
def ix(path: Path) -> Iterator[gannet.Index]:
    """An empty index."""
    with gannet.open(path, memory="16MiB") as index:
        yield index


@pytest.fixture
def books(ix: gannet.Index) -> gannet.Index:
    """An index of three books."""
    ix.add(BOOKS)
    return ix
