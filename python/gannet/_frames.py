"""Tables of other packages. They are imported when somebody asks for one."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Protocol

from ._errors import InvalidError

if TYPE_CHECKING:
    from ._native import Rankings

_ROWS = 4096
"""Rows of Parquet that are read at once."""


class _Hit(Protocol):
    """What a row is made of."""

    @property
    def id(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def source(self) -> dict[str, Any]: ...


def hits_to_pandas(hits: Iterable[_Hit]) -> Any:
    return _package("pandas").DataFrame(_rows(hits))


def hits_to_polars(hits: Iterable[_Hit]) -> Any:
    polars = _package("polars")
    # A field may have text in one document and a number in the next.
    return polars.DataFrame(_rows(hits), infer_schema_length=None, strict=False)


def hits_to_arrow(hits: Iterable[_Hit]) -> Any:
    pyarrow = _package("pyarrow")
    try:
        return pyarrow.Table.from_pylist(_rows(hits))
    except pyarrow.ArrowException as error:
        raise InvalidError(
            f"the fields of the hits do not fit into columns ({error}): take to_pandas, or hit.source"
        ) from error


def rankings_to_pandas(rankings: Rankings) -> Any:
    return _package("pandas").DataFrame(rankings.to_columns())


def rankings_to_polars(rankings: Rankings) -> Any:
    return _package("polars").DataFrame(rankings)


def rankings_to_arrow(rankings: Rankings) -> Any:
    return _package("pyarrow").table(rankings)


def parquet(path: str | PathLike[str]) -> Any:
    """A reader of the batches of a Parquet file."""
    pyarrow = _package("pyarrow", "to read Parquet")
    try:
        file = _package("pyarrow.parquet").ParquetFile(fspath(path))
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidError(f"{fspath(path)}: {error}") from error
    batches = file.iter_batches(batch_size=_ROWS)
    return pyarrow.RecordBatchReader.from_batches(file.schema_arrow, batches)


def _rows(hits: Iterable[_Hit]) -> list[dict[str, Any]]:
    """A column of each field beside id and score, which come first."""
    rows: list[dict[str, Any]] = []
    for hit in hits:
        row: dict[str, Any] = {"id": hit.id, "score": hit.score}
        row.update((name, value) for name, value in hit.source.items() if name not in row)
        rows.append(row)
    return rows


def _package(name: str, purpose: str = "for this table") -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise InvalidError(
            f"{package} is not installed, which is needed {purpose}: pip install {package}"
        ) from error
