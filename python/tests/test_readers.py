"""Readers of other processes beside a writer that checkpoints, vacuums and rebuilds."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RUNS = Path(__file__).resolve().with_name("readers_runs.py")
DOCUMENTS, QUERIES, READERS = 60, 6000, 2


def start(*words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-I", str(RUNS), *map(str, words)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def figures(process: subprocess.Popen[str]) -> dict[str, Any]:
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    found: dict[str, Any] = json.loads(output)
    return found


def test_readers_never_see_a_mixed_state(tmp_path: Path) -> None:
    index, stop = tmp_path / "readers.gnt", tmp_path / "stop"
    writer = start("write", index, DOCUMENTS, stop)
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "readers.gnt.ready").exists():
            assert writer.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        readers = [start("read", index, DOCUMENTS, QUERIES) for _ in range(READERS)]
        found = [figures(reader) for reader in readers]
    finally:
        stop.touch()
    wrote = figures(writer)
    assert wrote["checkpoints"] > 1 and wrote["errors"] == []
    for reader in found:
        assert reader["queries"] >= QUERIES and reader["errors"] == []
        assert (reader["mixed"], reader["back"]) == (0, 0)
