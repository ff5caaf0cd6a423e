"""Tables of other packages. They are imported when somebody asks for one.

A table of hits has the columns id, score and all fields of the index, whatever the hits have. So the
tables of two searches have the same columns, also where nothing was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Protocol

from ._errors import InvalidError, MissingError

if TYPE_CHECKING:
    from ._native import Rankings

_ROWS = 4096
"""Rows of Parquet that are read at once."""

_SCORE = "document_score"
"""The column of the field "score" of documents, beside that of the scores."""

_KINDS = {bool: "boolean", int: "number", float: "number", str: "text", list: "list", dict: "object"}
"""What the values of JSON are called in errors."""


class Hit(Protocol):
    """What a row is made of."""

    @property
    def id(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def source(self) -> dict[str, Any]: ...


Columns = Sequence[tuple[str, str]] | None
"""The fields of the index with the names of their analyzers; None where hits have no fields."""


@dataclass
class _Column:
    name: str
    values: list[Any]
    default: type | None = None
    """The class of the values where there are none."""

    @property
    def classes(self) -> set[type[Any]]:
        """The classes of the values; of whole and other numbers, that of the others."""
        found: set[type[Any]] = {type(value) for value in self.values if value is not None}
        return found - {int} if float in found and found <= {int, float} else found

    def one_class(self) -> type | None:
        """The class of all values; None where there are none."""
        classes = self.classes
        if not classes:
            return self.default
        if len(classes) > 1:
            first, second = sorted({_KINDS.get(one, one.__name__) for one in classes})[:2]
            raise InvalidError(
                f'the field "{self.name}" has a {first} in one hit and a {second} in another, which do '
                f'not fit into columns: take to_pandas(), or hit["{self.name}"]'
            )
        return classes.pop()

    def floats(self) -> list[float | None]:
        return [None if value is None else float(value) for value in self.values]

    def unfit(self, error: BaseException) -> InvalidError:
        reason = str(error).partition("\n")[0]
        return InvalidError(
            f'the values of the field "{self.name}" do not fit into columns ({reason}): take '
            f'to_pandas(), or hit["{self.name}"]'
        )


def hits_to_pandas(hits: Iterable[Hit], columns: Columns) -> Any:
    pandas = _package("pandas")
    # That of texts is another one in older versions.
    text = pandas.Series([], dtype="str").dtype

    def series(column: _Column) -> Any:
        values, classes = column.values, column.classes
        if classes == {int} and None in values and max(map(_bits, values)) < 64:
            # As other numbers, large ones would become others.
            return pandas.Series(values, dtype="Int64")
        if len(classes) > 1 or classes & {list, dict}:
            return pandas.Series(values, dtype=object)
        types: dict[type | None, Any] = {str: text, float: "float64", None: object}
        return pandas.Series(values, dtype=types.get(column.one_class()))

    return pandas.DataFrame({one.name: series(one) for one in _table(hits, columns)})


def hits_to_polars(hits: Iterable[Hit], columns: Columns) -> Any:
    polars = _package("polars")
    types: dict[type | None, Any] = {
        None: polars.Null,
        str: polars.String,
        bool: polars.Boolean,
        int: polars.Int64,
    }

    def series(column: _Column) -> Any:
        kind = column.one_class()
        try:
            if kind is float:
                return polars.Series(column.name, column.floats(), dtype=polars.Float64)
            if kind in types:
                return polars.Series(column.name, column.values, dtype=types[kind])
            rows = [{column.name: value} for value in column.values]
            return polars.DataFrame(rows, infer_schema_length=None).to_series()
        except Exception as error:
            raise column.unfit(error) from error

    return polars.DataFrame([series(one) for one in _table(hits, columns)])


def hits_to_arrow(hits: Iterable[Hit], columns: Columns) -> Any:
    pyarrow = _package("pyarrow")
    types: dict[type | None, Any] = {
        None: pyarrow.null(),
        str: pyarrow.string(),
        bool: pyarrow.bool_(),
        int: pyarrow.int64(),
    }

    def array(column: _Column) -> Any:
        kind = column.one_class()
        try:
            if kind is float:
                return pyarrow.array(column.floats(), pyarrow.float64())
            return pyarrow.array(column.values, types.get(kind))
        except (pyarrow.ArrowException, OverflowError, TypeError) as error:
            raise column.unfit(error) from error

    table = _table(hits, columns)
    return pyarrow.table([array(one) for one in table], names=[one.name for one in table])


def rankings_to_pandas(rankings: Rankings) -> Any:
    pandas = _package("pandas")
    types = {"query": "str", "rank": "int64", "id": "str", "score": "float64"}
    columns = rankings.to_columns()
    return pandas.DataFrame(
        {name: pandas.Series(columns[name], dtype=kind) for name, kind in types.items()}
    )


def rankings_to_polars(rankings: Rankings) -> Any:
    return _package("polars").DataFrame(rankings)


def rankings_to_arrow(rankings: Rankings) -> Any:
    return _package("pyarrow").table(rankings)


def stream_to_pandas(stream: Any) -> Any:
    return stream_to_arrow(stream).to_pandas()


def stream_to_polars(stream: Any) -> Any:
    return _package("polars").DataFrame(stream)


def stream_to_arrow(stream: Any) -> Any:
    return _package("pyarrow").table(stream)


def parquet(path: str | PathLike[str]) -> Any:
    """A reader of the batches of a Parquet file."""
    pyarrow = _package("pyarrow", "to read Parquet")
    try:
        file = _package("pyarrow.parquet").ParquetFile(fspath(path))
    except FileNotFoundError as error:
        raise MissingError(f"{fspath(path)}: there is no such file") from error
    except (OSError, pyarrow.ArrowException) as error:
        raise InvalidError(f"{fspath(path)}: {error}") from error
    batches = file.iter_batches(batch_size=_ROWS)
    return pyarrow.RecordBatchReader.from_batches(file.schema_arrow, batches)


def _table(hits: Iterable[Hit], columns: Columns) -> list[_Column]:
    """The columns id, score, all fields of the index, and what only hits have."""
    rows = list(hits)
    first = [
        _Column("id", [hit.id for hit in rows], str),
        _Column("score", [float(hit.score) for hit in rows], float),
    ]
    if columns is None:
        return first
    sources = [hit.source for hit in rows]
    return first + [
        _Column(_name_of(name, sources), [source.get(name) for source in sources], default)
        for name, default in _fields(sources, columns).items()
    ]


def _fields(
    sources: Iterable[dict[str, Any]], known: Iterable[tuple[str, str]]
) -> dict[str, type | None]:
    """The fields of documents, and the class of values where that is known.

    The index knows those within objects by names with dots, which a field may have itself.
    """
    there = {name for source in sources for name in source}
    fields: dict[str, type | None] = {}
    for name, analyzer in known:
        own = name in there
        column = name if own else name.partition(".")[0] or name
        fields.setdefault(column, str if column == name and analyzer != "keyword" else None)
    for source in sources:
        for name in source:
            fields.setdefault(name, None)
    fields.pop("id", None)
    return fields


def _name_of(field: str, sources: Iterable[dict[str, Any]]) -> str:
    if field != "score":
        return field
    if any(_SCORE in source for source in sources):
        raise InvalidError(
            f'documents have the fields "score" and "{_SCORE}", and in a table "score" is that of the '
            f'hit and "{_SCORE}" that of the document: take hit.source, or fields='
        )
    return _SCORE


def _bits(value: int | None) -> int:
    return 0 if value is None else value.bit_length()


def _package(name: str, purpose: str = "for this table") -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.split(".")[0]
        raise InvalidError(
            f"{package} is not installed, which is needed {purpose}: pip install {package}"
        ) from error
