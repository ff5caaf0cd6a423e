"""Rows that are no Dataset: lists of dicts, and what gives Arrow data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, cast

from .._errors import InvalidError
from ._here import MOST_BYTES
from ._ray import imported, ray

_pyarrow: Any = imported("pyarrow")

TOGETHER = 10_000
"""Rows that become one table, and the most of a small write."""


@dataclass
class Rows:
    """Rows that this process has, as tables of pyarrow."""

    tables: Iterable[Any]
    are_few: bool


def rows_here(given: Any) -> Rows | None:
    """The rows of a list or a table, or of a small Dataset in the store; None of any other."""
    if hasattr(given, "write_datasink"):
        return _stored(given)
    rows = tables(given)
    first = list(islice(rows, 2))
    are_few = len(first) < 2 and all(
        one.num_rows <= TOGETHER and one.nbytes <= MOST_BYTES for one in first
    )
    return Rows(chain(first, rows), are_few)


def _stored(given: Any) -> Rows | None:
    # Of others, tasks would have to be run to know.
    if type(given).__name__ != "MaterializedDataset" or given.count() > TOGETHER:
        return None
    if given.size_bytes() > MOST_BYTES:
        return None
    block_of = imported("ray.data.block").BlockAccessor.for_block
    references = [
        reference for bundle in given.iter_internal_ref_bundles() for reference in bundle.block_refs
    ]
    return Rows([block_of(block).to_arrow() for block in ray.get(references)], are_few=True)


def tables(given: Any) -> Iterator[Any]:
    """The rows as tables of pyarrow."""
    if hasattr(given, "__arrow_c_stream__"):
        yield _table(given)
        return
    is_one = isinstance(given, (str, bytes, Mapping))
    if is_one or not isinstance(given, Iterable):
        found = type(cast("object", given)).__name__
        raise InvalidError(
            f"expected a Dataset, a list of dicts or a table, found {found}: of files "
            "ray.data.read_json and its like make a Dataset"
        )
    rows = iter(cast("Iterable[object]", given))
    while some := list(islice(rows, TOGETHER)):
        yield _of_dicts(some)


def _table(given: Any) -> Any:
    try:
        table = _pyarrow.table(given)
        # Those of polars, of which rows cannot be taken.
        views = {_pyarrow.string_view(): _pyarrow.large_string()}
        types = [(one.name, views.get(one.type, one.type)) for one in table.schema]
        return table.cast(_pyarrow.schema(types))
    except (_pyarrow.ArrowException, TypeError, ValueError) as error:
        raise InvalidError(f"{type(given).__name__} is no table: {error}") from error


def _of_dicts(rows: list[object]) -> Any:
    """A table with a column for each name that any of the rows has."""
    columns: dict[str, Any] = {}
    dicts = [_row(row) for row in rows]
    for row in dicts:
        columns.update(dict.fromkeys(row))
    for name in columns:
        try:
            columns[name] = _pyarrow.array([row.get(name) for row in dicts])
        except (_pyarrow.ArrowException, OverflowError, TypeError) as error:
            reason = str(error).partition("\n")[0]
            raise InvalidError(
                f'column "{name}": its values have no type that they share ({reason}): give them one'
            ) from error
    return _pyarrow.table(columns)


def _row(given: object) -> Mapping[str, Any]:
    if isinstance(given, Mapping):
        return cast("Mapping[str, Any]", given)
    raise InvalidError(f"expected rows, which are dicts, found {type(given).__name__}")
