#!/usr/bin/env python3
"""The server beside OpenSearch: the same documents, and the same random requests to both; answers are compared.

    research/proofs/opensearch.py [--requests N] [--seed N] [--kinds TEXT ...]

OpenSearch is a process of its own on loopback; Maven fetches it once, and Java 21 or newer runs it. Without Java the script
says so and ends well. Compared are the status, the type of an error, IDs in order (those of equal scores aside), values, buckets,
and scores within 1e-5. What the server rejects by name as not there, and what docs/compatibility.md says that differs, are
counted apart, and are no equal answers.
"""
import argparse
import contextlib
import json
import random
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import opensearch_documents as documents
from harness import Claims, Unable, gannet, note, results
from opensearch_compare import Different, compare
from opensearch_documented import documented
from opensearch_node import Server, gannet_server, java, opensearch
from opensearch_requests import INDEX, KINDS
from opensearch_writes import SEQUENCES, WRONG

SEED, REQUESTS = 1, 2_000
EQUAL = 0.99
NOT_THERE = "is not there in Gannet"
SHOWN = 3


def main():
    options = arguments()
    if java() is None:
        print("skipped: no Java of version 21 or newer")
        return
    with Claims("opensearch", options.out, requests=options.requests, seed=options.seed, kinds=options.kinds) as claims:
        command = options.command or gannet()
        with contextlib.nullcontext(Server(options.peer)) if options.peer else opensearch() as peer, gannet_server(command) as own:
            claims.settings["peer"] = peer.ask("GET", "/")[1]["version"]["number"]
            Comparison(own, peer, options, claims).run()


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", help="a binary of the command (default: a release binary is built)")
    parser.add_argument("--peer", type=int, metavar="PORT", help="a node of OpenSearch that runs already (default: one is started)")
    parser.add_argument("--requests", type=int, default=REQUESTS, help=f"requests (default: {REQUESTS})")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--kinds", nargs="*", help="only kinds with one of these texts in their names")
    parser.add_argument("--show", type=int, default=SHOWN, help=f"differences of each kind that are shown (default: {SHOWN})")
    results.add_option(parser)
    return parser.parse_args()


class Comparison:
    """Both servers with the same documents, and what they answered."""

    def __init__(self, own, peer, options, claims):
        self.own, self.peer, self.options, self.claims = own, peer, options, claims
        self.random = random.Random(options.seed)
        self.counts, self.different, self.documented = defaultdict(Counter), defaultdict(list), Counter()

    def run(self):
        self.load()
        kinds = {**KINDS, **SEQUENCES, **WRONG}
        names = [name for name in kinds if not self.options.kinds or any(text in name for text in self.options.kinds)]
        asked = 0
        while asked < self.options.requests:
            for name in names:
                steps = kinds[name](self.random)
                for step in steps if isinstance(steps, list) else [steps]:
                    self.compare(name, *step)
                    asked += 1
        self.tell(asked)

    def load(self):
        """Fills both with the same documents in the same order, of which OpenSearch makes one segment."""
        lines = []
        for number, source in [*documents.sampled(), *documents.made(self.random)]:
            lines += [{"index": {"_id": number}}, source]
        self.peer.ask("GET", "/_cluster/health?wait_for_status=yellow&timeout=120s")
        self.peer.ask("DELETE", f"/{INDEX}")
        for server, mapping in ((self.own, documents.MAPPING), (self.peer, documents.peer_mapping())):
            self.must(server, "PUT", f"/{INDEX}", {"mappings": mapping, "settings": documents.SETTINGS})
            answer = self.must(server, "POST", f"/{INDEX}/_bulk?refresh=true", ndjson(lines), "application/x-ndjson")
            failed = [item for item in answer["items"] if item["index"]["status"] != 201]
            if failed:
                raise Unable(f"a document was rejected by {'OpenSearch' if server is self.peer else 'Gannet'}: {failed[0]}")
        self.must(self.peer, "POST", f"/{INDEX}/_forcemerge?max_num_segments=1")
        self.must(self.peer, "POST", f"/{INDEX}/_refresh")

    def must(self, server, *request):
        status, answer = server.ask(*request)
        if status >= 300:
            raise Unable(f"{request[:2]} was answered with {status}: {str(answer)[:500]}")
        return answer

    def compare(self, name, method, path, body, kind="application/json"):
        if isinstance(body, list):
            body, kind = ndjson(body), "application/x-ndjson"
        answers = [server.ask(method, path, body, kind) for server in (self.own, self.peer)]
        try:
            compare(method, path, *answers)
            self.counts[name]["equal"] += 1
        except Different as difference:
            request = f"{path} {body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)}"
            what = "different"
            if NOT_THERE in json.dumps(answers[0][1]):
                what = "not there"
            elif words := documented(request, str(difference)):
                what = "documented"
                self.documented[words] += 1
            self.counts[name][what] += 1
            if what != "different":
                return
            if len(self.different[name]) < self.options.show:
                note(f"{name}: {json.dumps([method, path, body], ensure_ascii=False)[:700]}\n    {str(difference)[:500]}")
            self.different[name].append({"request": [method, path, body if isinstance(body, (dict, type(None))) else str(body)[:2000]], "difference": str(difference)})

    def tell(self, asked):
        together = Counter()
        for name, counts in self.counts.items():
            together += counts
            self.claims.rows.append({"kind": name} | {what: counts[what] for what in ("equal", "documented", "not there", "different")})
        self.claims.settings["asked"] = asked
        self.claims.settings["together"], self.claims.settings["documented"] = dict(together), dict(self.documented)
        for name, counts in sorted(self.counts.items()):
            if counts["equal"] < counts.total():
                note(f"{name}: {dict(counts)}")
        self.claims.known("share of requests that both answer alike", round(together["equal"] / max(1, asked), 4))
        told = together["equal"] + together["documented"] + together["not there"]
        self.claims.at_least("share of requests that both answer alike, or whose difference the page tells of", round(told / max(1, asked), 4), EQUAL)


def ndjson(lines):
    return "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)


if __name__ == "__main__":
    main()
