#!/usr/bin/env python3
"""Makes the figures of the hybrid cache paper (Li et al., 2012) again."""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from figure_runs import Figure, main

FIGURES = [
    Figure("1 3 4 14b 17 19 table-1", "the logs, and all policies on them", "tiers.py --experiments policies", "tiers"),
    Figure("14a", "results alone, lists alone, both", "tiers.py --experiments classes", "tiers"),
    Figure("15", "no cache, by documents", "tiers.py --experiments uncached", "tiers"),
    Figure("16 18a", "one level and two, the index on a disk or a drive", "tiers.py --experiments levels", "tiers"),
    Figure("18b", "memory against flash, by price", "tiers.py --experiments costs", "tiers"),
    Figure("pages", "policies of the flash tier on pages that the engine asks for", "policies.py", "policies"),
    Figure("remote", "the flash tier over object storage, before and after a change", "remote_tier.py --before FILE", "remote-tier"),
    Figure("foyer", "foyer's hybrid cache on the same entries", "tiers.py --experiments foyer", "tiers"),
]


if __name__ == "__main__":
    main(__doc__, Path(__file__).parent, FIGURES)
