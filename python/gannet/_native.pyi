from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import date
from os import PathLike
from typing import (
    Any,
    ClassVar,
    Final,
    Literal,
    Protocol,
    Self,
    SupportsIndex,
    TypeAlias,
    Unpack,
    final,
    overload,
)

from _typeshed import DataclassInstance
from typing_extensions import disjoint_base

from ._options import SearchOptions
from ._show import Plan

__all__ = [
    "Batch",
    "CancelToken",
    "Document",
    "Documents",
    "Field",
    "Hit",
    "Hits",
    "Ids",
    "Index",
    "MEMORY_MIN",
    "Matching",
    "ObjectFolder",
    "Query",
    "Rankings",
    "Searcher",
    "Snapshot",
    "Statistics",
    "Table",
    "VERSION",
    "Written",
    "no_option",
    "number_of_bytes",
    "open",
    "read_document",
    "read_hit",
    "read_hits",
    "read_query",
    "read_rankings",
    "read_statistics",
    "read_written",
    "reopen",
    "restore",
    "selected",
    "shards_counted",
    "shards_in_order",
]

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

_Path: TypeAlias = str | PathLike[str]
_Size: TypeAlias = int | str
_Id: TypeAlias = str | int
_Operator: TypeAlias = Literal["or", "and"]
_Syntax: TypeAlias = Literal["query", "plain"]
_Fields: TypeAlias = Mapping[str, Any]
class _Model(Protocol):
    """As of pydantic."""

    def model_dump(self) -> dict[str, Any]: ...

class _NamedTuple(Protocol):
    def _asdict(self) -> dict[str, Any]: ...

# What has names for its values.
_Document: TypeAlias = _Fields | DataclassInstance | _Model | _NamedTuple

VERSION: Final[str]
MEMORY_MIN: Final[int]
"""The least budget of an index, in bytes."""

def open(
    path: _Path,
    *,
    memory: _Size | None = None,
    read_only: bool = False,
    create: bool = True,
    analyzer: str | None = None,
    analyzers: dict[str, str] | None = None,
    mapping: str | None = None,
    durability: str = "async",
    backend: str = "auto",
    cache_dir: _Path | None = None,
    cache_size: _Size | None = None,
    cache_writes: _Size | None = None,
    result_cache: _Size | None = None,
    result_ttl: float | None = None,
) -> Index: ...
def restore(backup: _Path, path: _Path, *, memory: _Size | None = None) -> None:
    """Makes an index in the folder `path` of the backup in another, or of what is at a URL."""

def reopen(path: _Path, memory: int) -> Index: ...
def number_of_bytes(size: _Size) -> int: ...
def no_option(call: str, known: list[str], name: str) -> BaseException: ...
def read_document(id: str, source: bytes, version: int) -> Document: ...
def read_hit(row: tuple[Any, ...], fields: list[str] | None) -> Hit: ...
def read_hits(answer: tuple[Any, ...]) -> Hits: ...
def read_query(json: str) -> Query: ...
def read_rankings(queries: list[str], rankings: list[list[tuple[str, float]]]) -> Rankings: ...
def shards_counted(
    facets: str | Sequence[str] | Mapping[str, int] | None,
    aggs: Mapping[str, Any] | None,
    shards: Sequence[str],
) -> str | None: ...
def shards_in_order(
    sort: str | Sequence[str], shards: Sequence[str | None]
) -> list[tuple[int, int]]: ...
def read_written(
    counts: tuple[int, int, int, int], rejections: list[str], notes: list[str]
) -> Written: ...
def selected(document: dict[str, Any], names: list[str]) -> dict[str, Any]: ...
def read_statistics(json: str) -> Statistics: ...
@final
class CancelToken:
    """Lets another thread give up a search."""

    def __new__(cls) -> Self: ...
    def cancel(self) -> None:
        """Asks for the end of the searches that have this token."""

@final
class ObjectFolder:
    """The objects below a URL."""

    def __new__(cls, url: str) -> Self: ...
    def read(self, name: str) -> tuple[bytes, str | None] | None:
        """An object and its version, or None."""

    def replace(self, name: str, known: str | None, bytes: bytes) -> bool:
        """Replaces an object of the version `known`, or makes it where None is; whether it did."""

    def names(self) -> list[str]:
        """The names of all objects."""

    def has_index(self) -> bool:
        """Returns true if an index is published here."""

    def remove_all(self) -> int:
        """Removes all objects; how many there were."""

@final
class Written:
    """The results of a write."""

    @property
    def added(self) -> int:
        """Documents added, replacements included."""

    @property
    def replaced(self) -> int:
        """Documents added that replaced an older one."""

    @property
    def deleted(self) -> int:
        """Documents deleted."""

    @property
    def rejected(self) -> int:
        """Documents rejected, where `on_error="skip"` passes over them."""

    @property
    def rejections(self) -> list[str]:
        """Why, one sentence each, of the first hundred."""

    @property
    def notes(self) -> list[str]:
        """Notes on documents that were added, one sentence each."""

    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Document(Mapping[str, Any]):
    """A document as it was stored. `dict(document)` and `document["field"]` work."""

    @property
    def id(self) -> str:
        """The external ID."""

    @property
    def version(self) -> int:
        """The number of times a document with this ID was written."""

    @property
    def source(self) -> dict[str, Any]:
        """All of it, decoded the first time."""

    @property
    def json(self) -> bytes:
        """The JSON, byte for byte as it came."""

    def __getitem__(self, name: str, /) -> Any: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def keys(self) -> list[str]:  # type: ignore[override]
        """The names of its fields."""

    def values(self) -> list[Any]:  # type: ignore[override]
        """The values of its fields."""

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Its fields: names with values."""

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or `default` where it is missing."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Any, ...]: ...

_SortValue: TypeAlias = bool | int | float | str | None
_FieldValue: TypeAlias = bool | int | float | str | date

@final
class Hit(Mapping[str, Any]):
    """A document that a search found. Its fields are decoded when one is asked for."""

    @property
    def id(self) -> str:
        """The external ID."""

    @property
    def score(self) -> float:
        """The score, or what `rescore` made of it."""

    @property
    def source(self) -> dict[str, Any]:
        """The document."""

    @property
    def json(self) -> bytes:
        """The JSON of the document, byte for byte as it came."""

    @property
    def sort(self) -> list[_SortValue]:
        """Its values by the keys of the order, where `sort` asked for one; dates in ISO 8601."""

    @property
    def group(self) -> _SortValue:
        """The value that it stands for, where `collapse` named a field."""

    @property
    def snippets(self) -> dict[str, list[str]]:
        """Snippets by field, where `highlight` asked for them. Their text is not escaped."""

    @property
    def snippet(self) -> str | None:
        """The best snippet of the first field that has one."""

    def __getitem__(self, name: str, /) -> Any: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def keys(self) -> list[str]:  # type: ignore[override]
        """The names of its fields."""

    def values(self) -> list[Any]:  # type: ignore[override]
        """The values of its fields."""

    def items(self) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Its fields: names with values."""

    def get(self, name: str, default: Any = None) -> Any:
        """A field, or `default` where it is missing."""

    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    __hash__: ClassVar[None]  # type: ignore[assignment]
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Hits:
    """The hits of a search, best first."""

    @property
    def total(self) -> int:
        """Documents that match, or at least so many; see `total_is_exact`."""

    @property
    def total_is_exact(self) -> bool:
        """True if `total` is exact; `count=True` makes it so."""

    @property
    def took(self) -> float:
        """Seconds that the search took."""

    @property
    def reused(self) -> str | None:
        """The level of the cache that had the answer, "memory" or "flash". None if it was computed,
        and of hits that were unpickled."""

    @property
    def facets(self) -> dict[str, list[tuple[bool | int | float | str, int]]]:
        """The values of the fields that `facets` named with their counts, the most frequent first."""

    @property
    def aggs(self) -> dict[str, Any]:
        """The answers of `aggs`, as Elasticsearch gives them."""

    @property
    def places(self) -> str | None:
        """The values of the hits of one of several indexes, for `shards_in_order`."""

    @property
    def counted(self) -> str | None:
        """The counts of one of several indexes, for `shards_counted`."""

    @property
    def query(self) -> str:
        """The query as it was understood."""

    @property
    def io(self) -> dict[str, int]:
        """The reads of the search: rounds, reads, bytes, frames_hit, tier_hits."""

    @property
    def notes(self) -> list[str]:
        """Notes on the way the query was carried out."""

    @property
    def ids(self) -> list[str]:
        """The external IDs, best first."""

    @property
    def scores(self) -> list[float]:
        """The scores, best first."""

    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: SupportsIndex, /) -> Hit: ...
    @overload
    def __getitem__(self, key: slice, /) -> Hits: ...
    def __iter__(self) -> Iterator[Hit]: ...
    def rescore(self, function: Callable[[Hit], float]) -> Hits:
        """The same hits in the order of what `function` gives for each, the highest first."""

    def explain(self) -> Plan:
        """Returns the plan of the query and the reasons for the score of each hit.

        Asks again unless the search was made with `explain=True`.
        """

    def to_pandas(self) -> Any:
        """A pandas.DataFrame with the columns id, score and all fields."""

    def to_polars(self) -> Any:
        """A polars.DataFrame with the columns id, score and all fields."""

    def to_arrow(self) -> Any:
        """A pyarrow.Table with the columns id, score and all fields."""

    def _repr_html_(self) -> str: ...
    def __reduce__(self) -> tuple[Any, ...]: ...

@final
class Ids:
    """The IDs of all documents, found as they are asked for."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> str: ...

@final
class Documents:
    """All documents, read as they are asked for."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> Document: ...

@final
class Matching:
    """The IDs and scores of all documents that match a query, found as they are asked for."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> tuple[str, float]: ...

@final
class Rankings:
    """The IDs and scores of the best documents of many queries."""

    @property
    def queries(self) -> list[str]:
        """The IDs of the queries, in their order."""

    def __len__(self) -> int: ...
    def __getitem__(self, key: SupportsIndex | str, /) -> list[tuple[str, float]]:
        """The answer of one query, by its place or its ID: pairs of ID and score, best first."""

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Scores by document by query, as `ir_measures` takes them."""

    def __reduce__(self) -> tuple[Any, ...]: ...
    def to_columns(self) -> dict[str, list[Any]]:
        """The columns query, rank, id and score as lists."""

    def to_trec(self, path: _Path, tag: str = "gannet") -> None:
        """Writes a run file as TREC's tools read it."""

    def to_arrow(self) -> Any:
        """A pyarrow.Table of all answers."""

    def to_polars(self) -> Any:
        """A polars.DataFrame of all answers."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of all answers."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow data with the columns query, rank, id and score, by the PyCapsule interface."""

@final
class Table:
    """Values of columns as Arrow data: `polars.DataFrame(ix.table(["id", "price"]))`.

    A thousand documents are in memory at once, in the order in which they were written. Long,
    double, boolean and keyword columns are Int64, Float64, Boolean and Utf8, dates are moments in
    UTC. Where a document has several values, the column has lists. What is missing is null.
    """

    @property
    def names(self) -> list[str]:
        """The names of its columns."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Arrow data, batch after batch, by the PyCapsule interface."""

    def to_arrow(self) -> Any:
        """A pyarrow.Table of all batches."""

    def to_polars(self) -> Any:
        """A polars.DataFrame of all batches."""

    def to_pandas(self) -> Any:
        """A pandas.DataFrame of all batches."""

@final
class Field:
    """A field that queries are made of: `gannet.field("price") > 5`.

    Values are strings, numbers, booleans, dates and moments; a moment without a time zone is in
    UTC. `==` and `!=` compare whole values.
    """

    def __new__(cls, name: str) -> Self: ...
    @property
    def name(self) -> str:
        """Its name."""

    def __lt__(self, value: _FieldValue, /) -> Query: ...
    def __le__(self, value: _FieldValue, /) -> Query: ...
    def __gt__(self, value: _FieldValue, /) -> Query: ...
    def __ge__(self, value: _FieldValue, /) -> Query: ...
    def __eq__(self, value: _FieldValue, /) -> Query: ...  # type: ignore[override]
    def __ne__(self, value: _FieldValue, /) -> Query: ...  # type: ignore[override]
    def __hash__(self) -> int: ...
    def between(
        self,
        lower: _FieldValue,
        upper: _FieldValue,
        *,
        inclusive: Literal["both", "left", "right", "neither"] = "both",
    ) -> Query:
        """Documents with a value between two others, which count too unless told otherwise."""

    def isin(self, values: Sequence[_FieldValue]) -> Query:
        """Documents that have one of these values."""

    def exists(self) -> Query:
        """Documents that have any value."""

@final
class Query:
    """A query of parts. `&` joins by AND, `|` by OR, and `~` is every other document.

    If `field` is None, all text fields are searched, and the best one counts. A query knows
    nothing of an index: texts are analyzed when it is searched for. `str(query)` is the query
    language.
    """

    @staticmethod
    def words(text: str, field: str | None = None, *, operator: _Operator = "or") -> Query:
        """The words of a text."""

    @staticmethod
    def phrase(
        text: str, field: str | None = None, *, slop: int = 0, last: str | None = None
    ) -> Query:
        """Words next to each other, which may move by `slop` places in all.

        `last` is a pattern with `*` and `?` for one more word behind them.
        """

    @staticmethod
    def prefix(prefix: str, field: str | None = None) -> Query:
        """Words that begin so."""

    @staticmethod
    def wildcard(pattern: str, field: str | None = None) -> Query:
        """Words that a pattern with `*` and `?` fits."""

    @staticmethod
    def regexp(pattern: str, field: str) -> Query:
        """Whole terms of a field that fit a regular expression in Lucene's syntax.

        Its `&` and `~` are not there. The query language has no form for it, so `str` of it cannot be parsed.
        """

    @staticmethod
    def fuzzy(text: str, field: str | None = None, *, distance: int | None = None) -> Query:
        """Words that are at most `distance` edits away."""

    @staticmethod
    def range(field: str, lower: str | None = None, upper: str | None = None) -> Query:
        """Whole values between two others, both included; None is no bound."""

    @staticmethod
    def one_of(field: str, values: Sequence[str]) -> Query:
        """Documents in which one of these is a whole value of the field."""

    @staticmethod
    def exists(field: str) -> Query:
        """Documents that have the field."""

    @staticmethod
    def everything() -> Query:
        """Every document."""

    @staticmethod
    def some_of(*queries: Query, at_least: int = 1) -> Query:
        """At least so many of these queries."""

    def boost(self, factor: float) -> Query:
        """The same query whose scores are multiplied."""

    def as_filter(self) -> Query:
        """The same documents, without scores."""

    def __and__(self, other: Query, /) -> Query: ...
    def __or__(self, other: Query, /) -> Query: ...
    def __rand__(self, other: Query, /) -> Query: ...
    def __ror__(self, other: Query, /) -> Query: ...
    def __invert__(self) -> Query: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Statistics:
    """Documents and tokens of fields, and documents of terms: what scores take from an index.

    `+` and `sum` add up those of the same query on other documents. Deleted documents count until a
    vacuum. It can be pickled.
    """

    @staticmethod
    def from_json(json: str) -> Statistics:
        """Reads what `to_json` has written."""

    def to_json(self) -> str:
        """The statistics as JSON."""

    @property
    def fields(self) -> list[str]:
        """The names of the fields."""

    def __add__(self, other: Statistics, /) -> Statistics: ...
    def __radd__(self, other: int, /) -> Statistics: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __ne__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Any, tuple[str]]: ...

@disjoint_base
class Searcher:
    """Whatever can be searched: the base of Index and Snapshot."""

    def search(
        self,
        query: str | Query,
        k: SupportsIndex = 10,
        *,
        offset: SupportsIndex = 0,
        filter: str | Query | list[str | Query] | None = None,
        sort: str | Sequence[str] | None = None,
        after: Sequence[_SortValue] | None = None,
        collapse: str | None = None,
        facets: str | Sequence[str] | Mapping[str, int] | None = None,
        aggs: Mapping[str, Any] | None = None,
        highlight: str | Sequence[str] | None = None,
        fields: str | Sequence[str] | None = None,
        operator: _Operator = "or",
        syntax: _Syntax = "query",
        count: bool = False,
        sources: bool = True,
        explain: bool = False,
        statistics: Statistics | None = None,
        ties: Literal["id"] | None = None,
        timeout: float | None = None,
        cancel: CancelToken | None = None,
    ) -> Hits:
        """The best `k` documents for a query, behind the first `offset`.

        - `filter` is a query that hits must match too, or a list of them; it adds nothing to scores.
        - `sort` orders hits by values in place of their scores: fields of numbers, dates, booleans or
          short strings, `_score`, `_doc` or `_id`; `-` before one has the greatest first. Hits then
          have `sort`, and documents without a value come last.
        - `after` has the `sort` of a hit, behind which the hits begin.
        - `collapse` names a field of whose values each has one hit, the best. It is `hit.group`.
        - `facets` counts the values of fields over all documents that match, and `hits.facets` has
          the most frequent ones: ten, or as many as a dict says.
        - `aggs` has aggregations as in Elasticsearch, and `hits.aggs` their answers. The query of a
          filter is text in the query language.
        - `highlight` names the fields to make snippets of.
        - `fields` names the fields that hits have; the name of an object stands for all in it.
        - `syntax="plain"` takes the text as words alone, whatever characters it has.
        - `operator` says how words go together that nothing else joins.
        - `count=True` makes `total` exact, which costs more.
        - `sources=False` gives IDs and scores alone.
        - `statistics` are used for scores in place of those of the index: sums over several.
        - `ties="id"` orders equal scores by ID, at the end of the page too. It reads the IDs of all
          documents that have the last score.
        - `timeout` is in seconds; a search that takes longer raises `SearchTimeoutError`.
        - `cancel` lets another thread end it.
        """

    def search_async(
        self, query: str | Query, k: SupportsIndex = 10, **options: Unpack[SearchOptions]
    ) -> Coroutine[Any, Any, Hits]:
        """The same on a thread: `hits = await ix.search_async("whale")`."""

    def search_many(
        self,
        queries: Iterable[str | Query] | Mapping[str, str | Query],
        k: SupportsIndex = 10,
        *,
        operator: _Operator = "or",
        syntax: _Syntax = "query",
        statistics: Statistics | None = None,
        ties: Literal["id"] | None = None,
        threads: SupportsIndex | None = None,
        timeout: float | None = None,
        cancel: CancelToken | None = None,
    ) -> Rankings:
        """IDs and scores of the best `k` documents of many queries.

        A dict gives queries by ID; those of a list are numbered from 0. The queries are carried out
        by `threads` threads, one for each processor unless told otherwise. `statistics` and `ties`
        are as for `search`, and hold for all queries.
        """

    def statistics(
        self,
        query: str | Query | Iterable[str | Query] | Mapping[str, str | Query],
        *,
        operator: _Operator = "or",
        syntax: _Syntax = "query",
        fields: Sequence[str] | None = None,
        timeout: float | None = None,
    ) -> Statistics:
        """Collects the statistics that scores of one or more queries take from the index.

        Indexes that are searched with the sum of theirs answer like one. `fields` names those that
        another of them may have: a query may name them, though nothing is found here.
        """

    def matching(
        self,
        query: str | Query,
        *,
        operator: _Operator = "or",
        syntax: _Syntax = "query",
        statistics: Statistics | None = None,
        timeout: float | None = None,
    ) -> Matching:
        """The IDs and scores of all documents that match, however many, in no order.

        All are of the state that the index has at the call. `search` ranks 10,000 at most.
        `timeout` is for each thousand documents or more that are found at once.
        """

    def table(
        self,
        fields: str | Sequence[str],
        query: str | Query | None = None,
        *,
        operator: _Operator = "or",
        syntax: _Syntax = "query",
        timeout: float | None = None,
    ) -> Table:
        """The values of columns of all documents that match: all, without a query.

        No document is read. `id` among the fields is the external ID, which is read from the record
        of each document. `timeout` is for each thousand documents.
        """

    def ids(self) -> Ids:
        """The IDs of all documents of this moment, in the order in which they were written."""

    def count(
        self,
        query: str | Query | None = None,
        *,
        operator: _Operator = "or",
        syntax: _Syntax = "query",
        timeout: float | None = None,
    ) -> int:
        """Counts the documents that match: all, without a query."""

    def parse(
        self, text: str, *, operator: _Operator = "or", syntax: _Syntax = "query"
    ) -> Query:
        """Parses the query language."""

    @property
    def fields(self) -> dict[str, str]:
        """The fields with the names of their analyzers."""

    def __len__(self) -> int: ...
    def __bool__(self) -> bool: ...

@final
class Snapshot(Searcher):
    """An index as it was at one moment, which no later write changes."""

    def close(self) -> None:
        """Lets go of the memory and the space on flash that it holds."""

    @property
    def closed(self) -> bool:
        """True if it was closed."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...

@final
class Batch:
    """An atomic batch: all of its documents become visible where its block ends, or none."""

    def add(self, document: _Document, *, expected_version: SupportsIndex | None = None) -> None:
        """Adds one document.

        With `expected_version` the whole batch is rejected unless the document replaces this
        version; 0 is that there is none.
        """

    @property
    def written(self) -> Written | None:
        """The counts of the batch; None before it ends."""

    def __len__(self) -> int: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class Index(Searcher):
    """An index in a folder; `gannet.open` opens it. Threads may share it."""

    def add(
        self,
        documents: _Document | Iterable[_Document | _ArrowStream] | _ArrowStream | _Path,
        *,
        id: str | None = None,
        atomic: bool = False,
        expected_version: SupportsIndex | None = None,
        on_error: Literal["raise", "skip"] = "raise",
        format: Literal["jsonl", "bulk", "csv", "tsv", "text", "text-lines"] | None = None,
        threads: SupportsIndex | None = None,
    ) -> Written:
        """Adds documents, or replaces those with their IDs.

        `documents` is a dict, a dataclass or a model of pydantic, an iterable of these, the path of
        a file (JSON, CSV, TSV, actions in bulk, text, a folder of texts; also .gz, .zst and .xz;
        Parquet with pyarrow), or whatever gives Arrow data: a DataFrame of pandas or polars, a
        table of pyarrow or batches of one, a relation of DuckDB.

        They can be found when the call returns and are durable after `sync`, `checkpoint` or
        `close`. Many documents become visible batch by batch.

        - `id` names the field or column of the IDs, which is "id" otherwise. Documents without an
          ID get one, but an error where `id` is given.
        - `atomic=True` writes all or none, from memory.
        - `expected_version` is of one dict: it is written only if it replaces this version; 0 is
          that there is none. Else it raises `ConflictError`.
        - `on_error="skip"` passes over documents that are rejected and counts them. Otherwise the
          first one raises, and those before it are in the index.
        - `format` is that of a file whose name does not tell it.
        """

    def batch(self) -> Batch:
        """Begins an atomic batch: `with ix.batch() as batch: batch.add(...)`."""

    def update(
        self,
        id: _Id,
        changes: _Document | Callable[[dict[str, Any] | None], _Document | None],
        *,
        upsert: _Document | None = None,
        expected_version: SupportsIndex | None = None,
    ) -> Written:
        """Changes one document.

        The members of a dict take the place of those of the document, also within objects. A
        function gets the document, or None, and gives what takes its place; it is asked again where
        another writer was faster, and None leaves things as they are. `upsert` is written if there
        is no document.
        """

    def delete(self, ids: _Id | Iterable[_Id], *, expected_version: SupportsIndex | None = None) -> Written:
        """Deletes documents by ID, all at once; unknown IDs are passed over."""

    def delete_matching(
        self, query: str | Query, *, operator: _Operator = "or", syntax: _Syntax = "query"
    ) -> Written:
        """Deletes all documents that a query finds."""

    def get(self, id: _Id) -> Document | None:
        """The document with this ID, or None."""

    def __getitem__(self, id: _Id, /) -> Document: ...
    def __setitem__(self, id: _Id, document: _Document, /) -> None: ...
    def __delitem__(self, id: _Id, /) -> None: ...
    def __iter__(self) -> Documents:
        """All documents, in the order in which they were written."""

    def __contains__(self, id: _Id, /) -> bool: ...
    def snapshot(self) -> Snapshot:
        """The index as it is now, which no later write changes."""

    def refresh(self) -> bool:
        """Moves a reader to what a writer has written meanwhile; whether there was anything."""

    def sync(self) -> None:
        """Makes everything durable that was written before the call."""

    def checkpoint(self) -> None:
        """Moves all postings to flash, which readers in other processes see."""

    def vacuum(self) -> None:
        """Purges deleted documents, merges small chunks and returns space, where that pays."""

    def rebuild(self) -> None:
        """Writes the index anew, similar documents side by side."""

    def check(self) -> list[str]:
        """Reads every page and compares the postings with the documents: what is wrong."""

    def backup(self, path: _Path) -> dict[str, Any]:
        """Copies the index into a folder while writing goes on; later ones copy what is new."""

    def publish(self, url: str, *, keep: float = 3600.0, memory: _Size = ...) -> dict[str, Any]:
        """Copies the index to a URL, such as s3://bucket/wiki; later ones copy what is new.

        `memory` is taken beside the budget of the index. Objects that are replaced stay for `keep`
        seconds, in which a reader has to refresh.
        """

    def stats(self) -> dict[str, int]:
        """Returns the contents of the index in figures."""

    @property
    def path(self) -> str:
        """The folder, or the URL."""

    @property
    def memory(self) -> int:
        """The memory budget in bytes."""

    @property
    def read_only(self) -> bool:
        """True if it was opened for reading only."""

    @property
    def backend(self) -> str:
        """The backend of I/O: uring or pread."""

    @property
    def closed(self) -> bool:
        """True if it was closed."""

    def close(self) -> None:
        """Ends writing with a checkpoint. To close a closed index does nothing."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_exception: object) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[str, int]]: ...
