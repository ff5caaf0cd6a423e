"""The figures and tables of a paper: what makes each of them, and which result its page quotes.

Each paper has a `run.py` with a list of these. It only chooses: the scripts beside it measure. Nothing
is built or installed before the arguments are read.
"""
import argparse
import importlib.util
import shlex
import subprocess
import sys
from dataclasses import dataclass

from folders import ROOT


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
        place = home.resolve().relative_to(ROOT)
        print("\n".join(f"{figure.names}: {figure.what}\n    python3 {place}/{figure.command}" for figure in figures))
        return
    script, *words = shlex.split(by_name[options.figure].command)
    sys.exit(subprocess.run([sys.executable, home / script, *words, *more], cwd=ROOT).returncode)


def figures_of(folder):
    """The list of a paper's `run.py`."""
    spec = importlib.util.spec_from_file_location("run_of_a_paper", folder / "run.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FIGURES
