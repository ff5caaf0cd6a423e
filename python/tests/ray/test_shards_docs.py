"""The examples of docs/ray.md run and print what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_docs import run_examples


@pytest.mark.filterwarnings("ignore")
def test_the_examples_print_what_they_say(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples("docs/ray.md")
