"""The figures and tables of a paper: what makes each of them, and which result its page quotes.

Each paper has a `run.py` with a list of these. It only chooses: the scripts beside it measure. Nothing
is built or installed before the arguments are read.
"""
import argparse
import importlib.util
import os
import shlex
import subprocess
import sys
from dataclasses import dataclass

from columns import Column, tenths
from folders import PAPERS, RESEARCH, ROOT
from results import committed


@dataclass(frozen=True)
class Figure:
    """`names` are those of one run: numbers of figures, `table-2`, or words for what no paper has.
    The first word of `command` is a script of the paper's folder.
    """
    names: str
    what: str
    command: str
    result: str


def main(doc, home, figures):
    """Reads the arguments of a paper's `run.py` and has the script make what is asked for."""
    by_name = {name: figure for figure in figures for name in figure.names.split()}
    parser = argparse.ArgumentParser(description=doc, epilog="Other options go to the script, such as --out FILE.")
    asked = parser.add_mutually_exclusive_group(required=True)
    asked.add_argument("--figure", metavar="N", choices=by_name, help="one of " + ", ".join(by_name))
    asked.add_argument("--list", action="store_true", help="tell what there is, with the command of each, and do nothing")
    options, more = parser.parse_known_args()
    if options.list and more:
        parser.error(f"--list takes no other option, found {' '.join(more)}")
    if options.list:
        print("\n".join(f"{figure.names}: {figure.what}\n    {figure.command}" for figure in figures))
        return
    script, *words = shlex.split(by_name[options.figure].command)
    sys.exit(subprocess.run([sys.executable, home / script, *words, *more], cwd=ROOT).returncode)


# What is no paper's.
OTHERS = {
    "drives": [Figure("amplification", "the model of drives beside closed forms", "ssd.py", "ssd")],
    "peers": [Figure("growth", "passages beside eight times as many", "run.py", "growth-passages")],
}


def index_lines(result):
    """A line for each run of each paper, with the seconds that its result took."""
    seconds = {row["result"]: row["seconds"] for row in result["rows"]}
    lists = {f"papers/{folder.name}": figures_of(folder) for folder in PAPERS} | OTHERS
    lines = {}
    for folder, figures in lists.items():
        for figure in figures:
            name = f"[{folder.removeprefix('papers/')}]({folder}/page.md): {', '.join(figure.names.split())}"
            lines[name] = [{"folder": folder, "figure": figure, "seconds": seconds.get(figure.result)}]
    return lines


def figures_of(folder):
    """The list of a paper's `run.py`."""
    spec = importlib.util.spec_from_file_location("run_of_a_paper", folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FIGURES


def command_of(rows):
    folder, figure = rows[0]["folder"], rows[0]["figure"]
    if folder in OTHERS:
        return f"`research/measure/whole.py {figure.result}`"
    return f"`research/{folder}/run.py --figure {figure.names.split()[0]}`"


def minutes_of(rows):
    """Of the whole result, where it was timed."""
    return None if rows[0]["seconds"] is None else rows[0]["seconds"] / 60


def result_of(rows):
    name = rows[0]["figure"].result
    return f"[{name}]({os.path.relpath(committed(name), RESEARCH)})"


INDEX = [
    Column("what", lambda rows: rows[0]["figure"].what), Column("command", command_of), Column("minutes", minutes_of, tenths),
    Column("result file", result_of),
]
