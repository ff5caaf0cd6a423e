#!/usr/bin/env python3
"""The chart of README: queries a second of the mix with a cache of a sixteenth of Gannet's index, by engine.

`research/report/front_chart.py` writes docs/mix.svg from the result file of passages; `--check` only compares.
"""
import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

from folders import ROOT
from results import committed

RESULT = "peers-passages"
ENGINES = {"gannet": "Gannet", "tantivy": "Tantivy", "lucene": "Lucene", "seekstorm": "SeekStorm"}
BAR, STEP, LEFT, WIDEST = 20, 30, 90, 420


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0] + ".")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the picture is not that of the result")
    check = parser.parse_args().check
    path, drawn = ROOT / "docs" / "mix.svg", picture()
    if not check:
        path.write_text(drawn)
    elif path.read_text() != drawn:
        sys.exit(f"{path.relative_to(ROOT)} is not what {RESULT}.json gives: run research/report/front_chart.py")


def rates():
    """The least and the highest rate of each engine in the runs of the result."""
    rows = json.loads(committed(RESULT).read_text())["rows"]
    asked = [row for row in rows if row.get("set") == "mix" and row.get("share") == 16 and "qps" in row]
    of = {name: [row["qps"] for row in asked if row["engine"] == engine] for engine, name in ENGINES.items()}
    return {name: (min(each), max(each)) for name, each in of.items()}


def picture():
    """The chart as SVG; text and bars are readable on light and dark pages."""
    found = rates()
    most = max(high for _, high in found.values())
    height = STEP * len(found) + 10
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" width="660" height="{height}" font-family="sans-serif" font-size="14" fill="#808080">',
             "<title>Queries a second, the range of the runs</title>"]
    for at, (name, (low, high)) in enumerate(found.items()):
        top, width = STEP * at + 5, max(1, round(WIDEST * high / most))
        colour = "#0072b2" if name == "Gannet" else "#a0a0a0"
        lines.append(f'<text x="0" y="{top + 15}">{name}</text>')
        lines.append(f'<rect x="{LEFT}" y="{top}" width="{width}" height="{BAR}" fill="{colour}"/>')
        lines.append(f'<text x="{LEFT + width + 8}" y="{top + 15}">{low:,.0f} to {high:,.0f}</text>')
    return "\n".join([*lines, "</svg>", ""])


if __name__ == "__main__":
    main()
