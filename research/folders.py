"""Where the scripts of the research are. A script puts this folder on its path and imports this module
first; then it imports those of all folders by their names, which are distinct.
"""
import sys
from pathlib import Path

RESEARCH = Path(__file__).resolve().parent
ROOT = RESEARCH.parent
PAPERS = sorted(path for path in (RESEARCH / "papers").iterdir() if path.is_dir())
FOLDERS = [*(RESEARCH / name for name in ("measure", "peers", "report", "proofs", "drives")), *PAPERS]

sys.path[1:1] = [str(folder) for folder in FOLDERS if str(folder) not in sys.path]
