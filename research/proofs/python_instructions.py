#!/usr/bin/env python3
"""Instructions of a query from Python beside those of `gannet bench --ids`, on one thread, by callgrind."""
import argparse
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import ndcg
import python_environment
from harness import CACHE, CORPORA, Claims, Unable, gannet, passages, remove, run

MANY_SHARE = 0.9
# Two runs of each, whose difference has neither the start of the process nor that of the index.
FEW, MORE = 100, 600
RUNNER = Path(__file__).parent / "python_runs.py"
COUNT = re.compile(r"Collected : (\d+)")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--wheel", type=Path, help="default: the one in target/dist, as `make wheel` makes it")
    parser.add_argument("--command", help="built with --features rustix/use-libc-auxv (default: built from this tree)")
    parser.add_argument("--corpus", type=Path, help="JSON lines (default: all passages)")
    parser.add_argument("--index", type=Path, help="one that is there, of the corpus")
    parser.add_argument("--out")
    options = parser.parse_args()
    corpus = options.corpus or passages()
    with Claims("python-instructions", options.out, corpus=corpus.name, queries=[FEW, MORE]) as claims:
        command = options.command or gannet()
        python = python_environment.made("instructions-venv", [python_environment.wheel(options.wheel)])
        index = options.index or made(command, corpus)
        each = {}
        for way in ("bench in groups of 8", "search_many", "bench one by one", "search"):
            few, more = (counted(way, command, python, index, count) for count in (FEW, MORE))
            claims.rows.append({"way": way, "few": few, "more": more})
            each[way] = (more - few) / (MORE - FEW)
        share = each["bench in groups of 8"] / each["search_many"]
        claims.at_least("rate of search_many, by instructions, of that of bench --ids", round(share, 3), MANY_SHARE)
        claims.known("instructions of search beside those of bench --ids", round(each["search"] - each["bench one by one"]))


def made(command, corpus):
    index = CACHE / "instructions.gnt"
    remove(index)
    run([command, "index", index, corpus, "--memory", "512MiB"])
    return index


def counted(way, command, python, index, count):
    """The instructions of a whole process that asks so many queries once."""
    queries = log(count, way.startswith("bench"))
    if way.startswith("bench"):
        group = 8 if "8" in way else 1
        asked = [command, "bench", index, queries, "--as", "or", "--ids", "--group", group, "--memory", "512MiB", "--backend", "pread", "-k", 10]
    else:
        asked = [python, "-I", RUNNER, way, index, queries, 1]
    done = run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *asked])
    found = COUNT.search(done.errors)
    if done.code != 0 or not found:
        raise Unable(f"callgrind of {way}: {done.errors[-500:]}")
    return int(found[1])


def log(count, is_bench):
    """The first queries of the web log, as the command and as Python reads them."""
    with open(CORPORA / "queries/web-log-25k.tsv", encoding="utf-8") as lines:
        texts = [ndcg.plain(line.rstrip("\n").split("\t", 1)[1]) for line in lines]
    texts = [text for text in texts if text.strip()][:count]
    path = CACHE / f"instructions-{'bench' if is_bench else 'python'}-{count}.tsv"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{number}\t{text if is_bench else f'body:({text})'}\n" for number, text in enumerate(texts)))
    return path


if __name__ == "__main__":
    main()
