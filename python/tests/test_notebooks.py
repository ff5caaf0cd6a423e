"""The notebooks of the documents run, and show what they say."""

from __future__ import annotations

import ast
import contextlib
import io
from pathlib import Path
from typing import Any

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "docs/notebooks"

VARIES = "varies"
"""The tag of a cell whose figures differ from run to run."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["search", "hybrid"])
def test_a_notebook_shows_what_it_says(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    # It checks the form of the notebook, too.
    notebook: Any = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    space: dict[str, object] = {}
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) > 4
    for cell in cells:
        printed, value = run(cell.source, space)
        kept = outputs(cell)
        assert printed == kept.get("stream", ""), cell.source
        html = getattr(value, "_repr_html_", lambda: None)()
        varies = VARIES in cell.metadata.get("tags", [])
        assert bool(html) == ("text/html" in kept), cell.source
        assert varies or html == kept.get("text/html"), cell.source


def run(source: str, space: dict[str, object]) -> tuple[str, object]:
    """What a cell prints, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), space)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), space)
    return printed.getvalue(), value


def outputs(cell: Any) -> dict[str, str]:
    """What is kept of a cell: what it printed as `stream`, and its value by type."""
    kept: dict[str, str] = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            kept["stream"] = output.text
        else:
            kept.update(output.data)
    return kept
