#!/usr/bin/env python3
"""Makes the figures of the MFIS paper (Jung et al., 2014) again."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from figure_runs import Figure, main

SETTING = "--flushes 100 --queries 20 --seconds 1 --most-seconds 45"
FIGURES = [
    Figure("2", "batches of transfers by size and number, on the disk itself", "mfis.py --tables psync --name psync", "psync"),
    Figure("3", "five strategies with 1,000 documents a flush", f"mfis.py --tables small {SETTING}", "mfis-whole"),
    Figure("7 8 table-2", "all strategies on long lists", f"mfis.py --tables paper {SETTING}", "mfis-whole"),
    Figure("7d", "blocks written together", f"mfis.py --tables thresholds --thresholds 2 8 32 128 1024 {SETTING}", "mfis-whole"),
    Figure("codes", "figures 7 and 8 with the same codes for all", f"mfis.py --tables long {SETTING}", "mfis-whole"),
    Figure("vocabulary", "a whole vocabulary, with Gannet's own way", f"mfis.py --tables full {SETTING}", "mfis-whole"),
]


if __name__ == "__main__":
    main(__doc__, Path(__file__).parent, FIGURES)
