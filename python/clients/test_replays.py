"""What programs send that need no client: the replays of clients/replays, each to a new server."""

from __future__ import annotations

from pathlib import Path

import pytest

from replay import replay
from test_clients import Running

REPLAYS = sorted((Path(__file__).parents[2] / "clients" / "replays").glob("*.json"))


@pytest.mark.parametrize("file", REPLAYS, ids=lambda file: file.stem)
def test_a_program_reads_what_it_expects(file: Path, tmp_path: Path) -> None:
    server = Running(tmp_path)
    try:
        assert replay(server.url, file) == []
    finally:
        assert server.end() == 0
