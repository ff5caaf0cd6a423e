"""The place of a sharded index: a folder that all nodes share, or object storage."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TypeAlias
from urllib.parse import unquote, urlparse

from .._errors import InvalidError
from ._folder import Folder
from ._object_store import ObjectStore

Place: TypeAlias = Folder | ObjectStore

_SCHEME = re.compile(r"^([A-Za-z][A-Za-z0-9+.-]*)://")
_CUT = re.compile(r"^(s3|file):/[^/]", re.IGNORECASE)
"""What `pathlib` makes of a URL."""


def place_of(uri: str | os.PathLike[str]) -> Place:
    """The place that a URI names."""
    text = os.fspath(uri)
    if _CUT.match(text):
        raise InvalidError(
            f"{text} has one slash behind the scheme: give a URL as a string, and not as a Path"
        )
    scheme = _SCHEME.match(text)
    if scheme is None:
        return Folder(Path(text).absolute())
    match scheme[1].lower():
        case "file":
            return Folder(Path(unquote(urlparse(text).path)).absolute())
        case "s3":
            return ObjectStore(text)
        case other:
            raise InvalidError(
                f"{text}: shards are kept in a folder that all nodes share or on S3, and {other}:// "
                "is neither: give the path of a mount, or s3://BUCKET/PREFIX"
            )
