#!/usr/bin/env python3
"""Makes the figures of the Smart SSD paper (Wang and Park, 2016) again, all modelled."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from figure_runs import Figure, main

FIGURES = [
    Figure("5 7 8 9 10 11 12 13 14 15 16 17 18 19 20 table-3 table-4 table-5", "the paper's experiments", "smart_ssd.py", "smart-ssd"),
    Figure("sensitivity", "tables 3 to 5 with each number of the profile varied", "smart_vary.py", "smart-sensitivity"),
    Figure("early", "the paper's unions with early termination", "smart_early.py", "smart-early"),
    Figure("lists", "Gannet's own lists and a web log", "offload.py", "offload"),
]


if __name__ == "__main__":
    main(__doc__, Path(__file__).parent, FIGURES)
