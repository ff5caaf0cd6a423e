#!/usr/bin/env python3
"""Makes the figures of the AS B-tree's paper (Kim et al., 2014) again."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from figure_runs import Figure, main

STRUCTURES = "--structures b-tree b-tree-batched as-b-tree bftl bftl-apart fd-tree la-tree la-tree-batched gannet gannet-rolling rolling"

# `trees-mixed` was made by several commands, of which the file has the last: these make its rows. It has
# 1,000,000 operations of BFTL with 10/90 and 30/70, too.
MIXED = "trees.py --tables mixed --jobs 2 --name trees-mixed"
TEN = "b-tree b-tree-batched as-b-tree fd-tree fd-tree-levels la-tree la-tree-batched gannet gannet-rolling rolling"


def made_by(tables):
    return f"trees.py --tables {tables} --jobs 2 {STRUCTURES}"


FIGURES = [
    Figure("table-1", "rates of the modelled drive", made_by("drive"), "trees-figures"),
    Figure("9 10 11 12 table-2", "single operations", made_by("operations"), "trees-figures"),
    Figure("table-3", "files after insertions", made_by("files"), "trees-figures"),
    Figure("7", "nodes that count, by subfile", made_by("spread"), "trees-figures"),
    Figure("13 14", "insertions and searches by cache", made_by("caches"), "trees-figures"),
    Figure("15 table-4", "mixes of operations, memory charged in full, but for BFTL", f"{MIXED} --structures {TEN}", "trees-mixed"),
    Figure("15-bftl", "the same with BFTL, by fewer operations; keeps what --figure 15 made", f"{MIXED} --keep --structures bftl --mixed-operations 300000", "trees-mixed"),
]


if __name__ == "__main__":
    main(__doc__, Path(__file__).parent, FIGURES)
