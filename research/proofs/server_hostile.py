#!/usr/bin/env python3
"""Hostile requests: the server answers each with no status from 500 on, does not end, and its memory does not grow.

    research/proofs/server_hostile.py [--seconds N] [--parts own elasticsearch bodies]

`own`: schemathesis by the description that the server gives of its own API. `elasticsearch`: the same by a description that
is made of the routes of docs/compatibility.md. `bodies`: requests of the comparison with OpenSearch with random damage in them.
schemathesis is installed from PyPI into an environment under target/.
"""
import argparse
import json
import random
import re
import subprocess
import sys
import time
import venv
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import opensearch_documents as documents
import opensearch_requests
import opensearch_writes
from harness import CACHE, ROOT, Claims, Unable, gannet, note, results
from opensearch_node import gannet_server

PARTS = ["own", "elasticsearch", "bodies"]
PACKAGE = "schemathesis==4.32.5"
# Memory that a server may hold beside what it held once it was warm, as a part of that.
GROWTH = 1.25
SCRAPS = ["null", "{}", "[]", "-1", "1e999", "99999999999999999999", '""', '"\\u0000"', "true", '"*"', '"\U0001f40b"', "[[[[[[]]]]]]", '{"a":{"a":{"a":{}}}}', "0.5", '"now||/y"', '"' + "x" * 5000 + '"']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", help="a binary of the command (default: a release binary is built)")
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--seconds", type=int, default=300, help="of each part (default: 300)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--schemathesis", help="its program, where it is installed already")
    results.add_option(parser)
    options = parser.parse_args()
    with Claims("server-hostile", options.out, parts=options.parts, seconds=options.seconds, seed=options.seed) as claims:
        command = options.command or gannet()
        for part in options.parts:
            note(part)
            with gannet_server(command) as server:
                fill(server)
                judge(part, server, options, claims)


def fill(server):
    server.ask("PUT", "/same", {"mappings": documents.MAPPING})
    lines = []
    for number, source in documents.made(random.Random(1)):
        lines += [json.dumps({"index": {"_id": number}}), json.dumps(source)]
    status, _ = server.ask("POST", "/same/_bulk", "\n".join(lines) + "\n", "application/x-ndjson")
    if status != 200:
        raise Unable(f"_bulk was answered with {status}")


def judge(part, server, options, claims):
    """Asks for the time, and looks at what the server says of itself afterwards."""
    asked = {"own": own, "elasticsearch": elasticsearch, "bodies": bodies}[part](server, options)
    claims.rows.append({"part": part} | asked)
    claims.known(f"{part}: requests", asked["requests"])
    claims.equal(f"{part}: answers from 500 on", asked["failures"], 0)
    claims.equal(f"{part}: the server still runs", server.started.poll(), None)
    claims.equal(f"{part}: a search afterwards", server.ask("POST", "/same/_count", {})[0], 200)
    claims.at_most(f"{part}: resident memory in the end by that when warm", round(asked["kib_end"] / asked["kib_warm"], 2), GROWTH)


def resident_kib(server):
    line = next(line for line in Path(f"/proc/{server.started.pid}/status").read_text().splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1])


def counted(server):
    """Requests by status, as the server counts them."""
    counts = Counter()
    for line in server.ask("GET", "/metrics")[1].splitlines():
        if found := re.match(r'gannet_requests_total\{.*status="(\d)\d*"\} (\d+)', line) or re.match(r'gannet_[a-z_]*requests_total\{.*status="(\d)\w*".*\} (\d+)', line):
            counts[found[1]] += int(found[2])
    return counts


# By a description


def own(server, options):
    return described(server, options, f"http://127.0.0.1:{server.port}/v1/openapi.json", [])


def elasticsearch(server, options):
    path = CACHE / "elasticsearch-openapi.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(description()))
    return described(server, options, str(path), ["--url", f"http://127.0.0.1:{server.port}"])


def description():
    """The routes of docs/compatibility.md as OpenAPI, with bodies of any members that searches and writes have."""
    paths = {}
    for path, methods in re.findall(r"^\| `(/[^`]*)` \| ([A-Z, ]+) \|", (ROOT / "docs" / "compatibility.md").read_text(), re.M):
        parameters = [{"name": name, "in": "path", "required": True, "schema": {"anyOf": [{"enum": ["same", "other", "m1"]}, {"type": "string", "minLength": 1}]}}
                      for name in re.findall(r"\{(\w+)\}", path)]
        parameters += [{"name": name, "in": "query", "schema": {"anyOf": [{"type": "string"}, {"type": "integer"}]}} for name in ("size", "q", "sort", "filter_path", "refresh", "pretty")]
        body = {"required": False, "content": {"application/json": {"schema": {"anyOf": [BODY, {}]}}}}
        if path.endswith(("_bulk", "_msearch")):
            body = {"required": True, "content": {"application/x-ndjson": {"schema": {"type": "string"}}}}
        for method in methods.split(", "):
            operation = {"parameters": parameters, "responses": {"default": {"description": "an answer"}}}
            if method in ("POST", "PUT"):
                operation["requestBody"] = body
            paths.setdefault(path, {})[method.lower()] = operation
    return {"openapi": "3.0.3", "info": {"title": "routes", "version": "1"}, "paths": paths}


ANY = {"anyOf": [{"type": "string"}, {"type": "number"}, {"type": "boolean"}, {"type": "array", "items": {"type": "string"}}, {"type": "object"}]}
QUERY = {"type": "object", "properties": {kind: ANY for kind in ("match", "term", "terms", "range", "bool", "query_string", "simple_query_string", "multi_match", "exists", "prefix")}, "maxProperties": 2}
BODY = {"type": "object", "properties": {name: ANY for name in ("size", "from", "sort", "_source", "aggs", "highlight", "collapse", "docvalue_fields", "doc", "mappings", "settings", "actions", "docs", "ids")}
        | {"query": QUERY, "post_filter": QUERY}}


def described(server, options, location, more):
    """Runs schemathesis for the time; it says what failed, and the server how much was asked."""
    kib = []
    begin = time.monotonic()
    command = [options.schemathesis or schemathesis(), "run", location, *more, "--checks", "not_a_server_error", "--phases", "coverage,fuzzing", "--max-time", str(options.seconds),
               "--continue-on-failure", "--seed", str(options.seed), "--warnings", "off", "--suppress-health-check", "all", "--workers", "2", "--no-color"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=CACHE)
    while process.poll() is None and time.monotonic() - begin < options.seconds + 120:
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            kib.append(resident_kib(server))
    process.kill()
    output = process.stdout.read()
    statuses = counted(server)
    if statuses.total() < 100:
        raise Unable(f"schemathesis sent {statuses.total()} requests: {output[-2000:]}")
    if statuses["5"]:
        note(output[-6000:])
    return {"requests": statuses.total(), "statuses": dict(statuses), "failures": statuses["5"], "kib_warm": kib[min(len(kib) - 1, max(5, len(kib) // 5))], "kib_end": resident_kib(server)}


def schemathesis():
    place = CACHE / "schemathesis"
    program = place / "bin" / "schemathesis"
    if not program.exists():
        note(f"installing {PACKAGE}")
        venv.create(place, with_pip=True)
        done = subprocess.run([place / "bin" / "pip", "install", "-q", PACKAGE], capture_output=True, text=True)
        if done.returncode != 0:
            raise Unable(f"cannot install {PACKAGE}: {done.stderr[-1000:]}")
    return str(program)


# By damage


def bodies(server, options):
    """Random requests with damage: values that are others, members that are gone or twice, bytes that are flipped."""
    chance = random.Random(options.seed)
    makers = list({**opensearch_requests.KINDS, **opensearch_writes.SEQUENCES, **opensearch_writes.WRONG}.values())
    counts, failed, kib = Counter(), [], []
    begin = time.monotonic()
    while (now := time.monotonic()) - begin < options.seconds:
        made = chance.choice(makers)(chance)
        for method, path, body in made if isinstance(made, list) else [made]:
            kind = "application/x-ndjson" if isinstance(body, list) else "application/json"
            if isinstance(body, list):
                body = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in body)
            if body is not None:
                body = damaged(chance, body if isinstance(body, str) else json.dumps(body))
            status, answer = server.ask(method, path, body, kind)
            counts[str(status)[0]] += 1
            if status >= 500:
                failed.append(f"{method} {path} {str(body)[:600]}: {str(answer)[:400]}")
        if not kib or now - kib[-1][0] > 2:
            kib.append((now, resident_kib(server)))
    for text in failed[:5]:
        note(text)
    return {"requests": counts.total(), "statuses": dict(counts), "failures": len(failed), "kib_warm": kib[min(len(kib) - 1, max(5, len(kib) // 5))][1], "kib_end": resident_kib(server)}


def damaged(chance, text):
    for _ in range(chance.choice([0, 1, 1, 2, 5])):
        what = chance.randrange(5)
        values = list(re.finditer(r'"[^"]*"(?!\s*:)|-?\d+(\.\d+)?|true|false|null', text))
        if what < 3 and values:
            one = chance.choice(values)
            text = text[:one.start()] + chance.choice(SCRAPS) + text[one.end():]
        elif what == 3 and text:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice(["", "{", "}", "[", '"', ",", "\\", "\u00e9", "\x01"]) + text[at + 1:]
        elif text:
            at, other = sorted(chance.randrange(len(text)) for _ in range(2))
            text = text[:at] + text[at:other] * 2 + text[other:]
    return text.encode(errors="replace")


if __name__ == "__main__":
    main()
