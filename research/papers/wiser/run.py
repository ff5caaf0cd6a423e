#!/usr/bin/env python3
"""Makes the figures of the WiSER paper (He et al., 2020) again."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from figure_runs import Figure, main

BUILT = "wiser.py --parts built --queries 2000 --limit 1000"
FIGURES = [
    Figure("7 9 10 11 12 14 17", "WiSER as published, each technique on and off, all passages", f"{BUILT} --corpora passages", "wiser-passages"),
    Figure("articles", "the same, 6,000 articles", f"{BUILT} --corpora articles --documents articles=6000", "wiser-articles"),
    Figure("3 8 13 15 16 18 19", "WiSER's way as a whole engine beside Gannet, Tantivy and Lucene",
           "wiser.py --parts engines --runs 1 --seconds 1.5 --shares 1 4 16", "wiser-engines"),
]


if __name__ == "__main__":
    main(__doc__, Path(__file__).parent, FIGURES)
