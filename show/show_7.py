#!/usr/bin/env python3
"""The same tests pass on both backends; each test on real files asserts the backend that is really active."""
import json

from measure import CACHE, Show, gannet, passed, remove, run

BACKENDS = ["uring", "pread"]
TESTS = ["cargo", "test", "--release", "--locked", "--workspace"]


def main():
    with Show(7) as show:
        command = gannet()
        for backend in BACKENDS:
            done = run(TESTS, environment={"GANNET_BACKEND": backend}, timeout=3600)
            if done.code != 0:
                show.settings[f"{backend}_failure"] = (done.output + done.errors)[-2000:]
            good, bad = passed(done)
            show.equal(f"{backend}: exit code of the tests", done.code, 0)
            show.at_least(f"{backend}: tests passed", good, 1)
            show.equal(f"{backend}: tests failed", bad, 0)
            show.equal(f"{backend}: active in the command", sorted(command_backends(command, backend)), [backend])


def command_backends(command, backend):
    """What writing and reading a small index say of their backend."""
    source, index = CACHE / "show-7.jsonl", CACHE / "show-7.gnt"
    CACHE.mkdir(parents=True, exist_ok=True)
    source.write_text("".join(json.dumps({"id": str(n), "body": f"document {n}"}) + "\n" for n in range(1000)))
    remove(index)
    written = run([command, "index", index, source, "--backend", backend, "--json"]).json()
    searched = run([command, "search", index, "document", "--backend", backend, "--json"]).json()
    remove(index)
    return {written["backend"], searched["backend"]}


main()
