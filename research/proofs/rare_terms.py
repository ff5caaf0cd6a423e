#!/usr/bin/env python3
"""A rare term costs about one read: a new process, a small budget, each term once; and the byte counter is true."""
import argparse
import random
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import CACHE, Claims, documents, gannet, kept, passages, passages_index, run

TERMS = 5000
RAREST_TO = 9
READS = 1.3
PAGE = 4096
COUNTER_ERROR = 0.01
DUMPED = 200
SEED = 4
# Close enough to Unicode words to find terms that stand alone: only words of plain letters are taken from it.
WORD = re.compile(r"\w+(?:['.’:·]\w+)*")


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    with Claims("rare_terms", terms=TERMS, document_frequency_to=RAREST_TO, memory="64MiB", threads=1, seed=SEED) as claims:
        command = gannet()
        index, _ = passages_index(command)
        terms = rare_terms()
        queries = CACHE / "rare-terms.tsv"
        queries.write_text("".join(f"term\t{term}\n" for term in terms))
        done = run([command, "bench", index, queries, "--memory", "64MiB", "--threads", 1,
                    "--distinct", "-k", 10, "--json"])
        figures = done.json()
        claims.settings["bench"] = figures
        claims.equal("queries answered", figures.get("queries"), TERMS)
        claims.at_most("reads per query, opening excluded", figures.get("reads_per_query"), READS)
        opening = figures.get("open_reads")
        everything = None if opening is None else figures["reads_per_query"] + opening / TERMS
        claims.known("reads per query, opening included", everything)
        pages = figures["bytes_read_per_query"]["engine"] / PAGE
        claims.at_most("pages of 4 KiB per query, opening excluded", pages, READS)
        counted, seen = figures["bytes_read"]["engine"], figures["bytes_read"]["os"]
        error = abs(counted - seen) / seen if seen else None
        claims.at_most("bytes from open to last answer, engine's against the system's, relative error", error, COUNTER_ERROR)
        claims.settings["device_bytes_read_of_the_process"] = done.device_bytes_read
        # Nothing read is only good if everything is found: the first queries once more, with their documents.
        found = [len(row["hits"]) for row in dumped(command, index, queries)]
        claims.at_least("queries of which the documents were looked at", len(found), DUMPED)
        claims.at_least("documents that the poorest of them found", min(found, default=None), 1)


def dumped(command, index, queries):
    """The documents that the first queries find, in a process of its own."""
    path = CACHE / "rare_terms.dump.jsonl"
    run([command, "bench", index, queries, "--memory", "64MiB", "--threads", 1, "--distinct", "-k", 10, "--json",
         "--dump", path]).json()
    return list(documents(path))


def rare_terms():
    """The chosen terms: the same at every run."""
    def choose():
        frequency = Counter()
        for document in documents(passages()):
            frequency.update(set(WORD.findall(document["body"].lower())))
        rare = sorted(term for term, count in frequency.items()
                      if count <= RAREST_TO and term.isascii() and term.isalpha())
        return random.Random(SEED).sample(rare, TERMS)
    return kept(CACHE / "rare-terms.json", choose)


main()
