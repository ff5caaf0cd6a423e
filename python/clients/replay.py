"""Sends the requests of a replay to a server and checks what a program reads of the answers:
replay.py URL REPLAY. It needs nothing but Python.

A replay is a file of JSON: program, version, the places where the requests are described, and the
requests in their order. Each has the status that the program expects, and in `reads` the members
that it reads, by paths with dots, with the value that they must have, or `null` for any.
"""

from __future__ import annotations

import json
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any


def member(answer: Any, path: str) -> Any:
    for name in path.split("."):
        answer = answer[int(name)] if isinstance(answer, list) else answer[name]
    return answer


def failure(url: str, asked: dict[str, Any]) -> str:
    """Sends one request; returns what is wrong with its answer."""
    headers = dict(asked.get("headers", {}))
    body = None
    if "lines" in asked:
        body = "".join(json.dumps(line) + "\n" for line in asked["lines"]).encode()
        headers.setdefault("Content-Type", "application/x-ndjson")
    elif "body" in asked:
        body = json.dumps(asked["body"]).encode()
        headers.setdefault("Content-Type", "application/json")
    request = urllib.request.Request(url + asked["path"], body, headers, method=asked["method"])
    try:
        with urllib.request.urlopen(request, timeout=30) as answered:
            status, text, told = answered.status, answered.read(), answered.headers
    except urllib.error.HTTPError as error:
        status, text, told = error.code, error.read(), error.headers
    name = f"{asked['method']} {asked['path']}"
    if status != asked.get("status", 200):
        return f"{name}: status {status}: {text.decode()[:400]}"
    for header, expected in asked.get("answer_headers", {}).items():
        if told.get(header) != expected:
            return f"{name}: {header} is {told.get(header)!r}, not {expected!r}"
    answer = json.loads(text) if asked.get("reads") else None
    for path, expected in asked.get("reads", {}).items():
        try:
            found = member(answer, path)
        except (LookupError, TypeError, ValueError):
            return f"{name}: there is no {path} in {text.decode()[:400]}"
        if expected is not None and found != expected:
            return f"{name}: {path} is {found!r}, not {expected!r}"
    return ""


def replay(url: str, file: Path) -> list[str]:
    """Sends all requests; returns what is wrong with their answers."""
    asked = json.loads(file.read_text())["requests"]
    return [wrong for one in asked if (wrong := failure(url, one))]


if __name__ == "__main__":
    failures = replay(sys.argv[1], Path(sys.argv[2]))
    print("\n".join(failures))
    sys.exit(1 if failures else 0)
