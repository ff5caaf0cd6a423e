"""The examples of the documents run and print what they say."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", re.DOTALL)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["README.md", "docs/python.md", "python/README.md"])
def test_the_examples_print_what_they_say(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample").symlink_to(ROOT / "sample")
    run_examples(name)


def run_examples(name: str) -> None:
    """Runs the examples of a page one after the other, in the current folder."""
    blocks = BLOCK.findall((ROOT / name).read_text())
    assert blocks
    space: dict[str, object] = {}
    for code, expected in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, name, "exec"), space)
        assert not expected or printed.getvalue() == expected, code
