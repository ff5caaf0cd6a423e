"""An S3 server in memory, for tests on one machine: what a publisher and a reader ask for.

It takes any credentials. Writes honour If-Match and If-None-Match, as S3 does.
"""

from __future__ import annotations

import hashlib
import threading
import time
import xml.etree.ElementTree as xml
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit


class S3Server(ThreadingHTTPServer):
    """Objects by their path, which begins with the bucket."""

    daemon_threads = True
    # Tests of one machine make many connections at once.
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.objects: dict[str, bytes] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.lock = threading.Lock()
        self.is_denied = False
        self.answers_lost = 0
        """How many writes are carried out and not answered."""
        self.on_write: Callable[[str], None] = lambda path: None
        """Is told of each write before it is carried out."""
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def environment(self) -> dict[str, str]:
        """What clients need to find it."""
        return {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self.server_address[1]}",
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "here",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }

    def below(self, prefix: str) -> list[str]:
        """The paths of all objects that begin with this."""
        with self.lock:
            return sorted(path for path in self.objects if path.startswith(prefix))

    def tag(self, path: str) -> str:
        """The version of an object."""
        return _tag(self.objects[path])

    def close(self) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: S3Server
    protocol_version = "HTTP/1.1"
    # Head and body go out together: a small answer would wait for the client's acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        path, query = self._asked()
        if self.server.is_denied:
            return self._answer(403, _error("AccessDenied"))
        if "list-type" in query:
            return self._list(path + "/" + query.get("prefix", ""))
        with self.server.lock:
            found = self.server.objects.get(path)
        if found is None:
            return self._answer(404, _error("NoSuchKey"))
        if self.headers.get("If-None-Match") == _tag(found):
            return self._answer(304)
        if asked := self.headers.get("Range"):
            first, last = asked.removeprefix("bytes=").split("-")
            end = min(int(last), len(found) - 1)
            headers = {"Content-Range": f"bytes {first}-{end}/{len(found)}"}
            return self._answer(206, found[int(first) : end + 1], _tag(found), headers)
        self._answer(200, found, _tag(found))

    def do_PUT(self) -> None:
        (path, query), body = self._asked(), self._body()
        self.server.on_write(path)
        if self.server.is_denied:
            return self._answer(403, _error("AccessDenied"))
        with self.server.lock:
            if "uploadId" in query:
                self.server.parts[query["uploadId"]][int(query["partNumber"])] = body
                return self._answer(200, tag=_tag(body))
            before = self.server.objects.get(path)
            wanted = self.headers.get("If-Match")
            if self.headers.get("If-None-Match") == "*" and before is not None:
                return self._answer(412, _error("PreconditionFailed"))
            if wanted is not None and (before is None or wanted != _tag(before)):
                return self._answer(412, _error("PreconditionFailed"))
            self.server.objects[path] = body
            is_lost = self.server.answers_lost > 0
            self.server.answers_lost -= is_lost
        if is_lost:
            self.close_connection = True
        else:
            self._answer(200, tag=_tag(body))

    def do_POST(self) -> None:
        (path, query), body = self._asked(), self._body()
        with self.server.lock:
            if "uploads" in query:
                upload = f"upload{len(self.server.parts)}"
                self.server.parts[upload] = {}
                made = f"<UploadId>{upload}</UploadId>"
                return self._answer(200, _document("InitiateMultipartUploadResult", made))
            if "uploadId" in query:
                parts = self.server.parts[query["uploadId"]]
                whole = b"".join(part for _, part in sorted(parts.items()))
                self.server.objects[path] = whole
                made = f"<ETag>{_tag(whole)}</ETag>"
                return self._answer(200, _document("CompleteMultipartUploadResult", made))
            keys = [one.text or "" for one in xml.fromstring(body).iter() if _is(one, "Key")]
            for key in keys:
                self.server.objects.pop(f"{path}/{key}", None)
        deleted = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self._answer(200, _document("DeleteResult", deleted))

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def _asked(self) -> tuple[str, dict[str, str]]:
        url = urlsplit(self.path)
        query = parse_qs(url.query, keep_blank_values=True)
        return unquote(url.path).rstrip("/"), {name: values[0] for name, values in query.items()}

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _list(self, prefix: str) -> None:
        bucket = len(prefix.split("/")[1]) + 2
        written = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        with self.server.lock:
            found = {path: held for path, held in self.server.objects.items()}
        contents = "".join(
            f"<Contents><Key>{path[bucket:]}</Key><LastModified>{written}</LastModified>"
            f"<ETag>{_tag(held)}</ETag><Size>{len(held)}</Size></Contents>"
            for path, held in sorted(found.items())
            if path.startswith(prefix)
        )
        body = f"<IsTruncated>false</IsTruncated>{contents}"
        self._answer(200, _document("ListBucketResult", body))

    def _answer(
        self,
        status: int,
        body: bytes = b"",
        tag: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Last-Modified", self.date_time_string())
        for name, value in {"ETag": tag, **(headers or {})}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)


def _tag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'


def _is(element: xml.Element, name: str) -> bool:
    return element.tag.rpartition("}")[2] == name


def _document(name: str, body: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><{name}>{body}</{name}>'.encode()


def _error(code: str) -> bytes:
    return _document("Error", f"<Code>{code}</Code>")
