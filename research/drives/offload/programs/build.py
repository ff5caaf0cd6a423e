#!/usr/bin/env python3
"""Builds the programs of drives anew: build.py [--check].

It needs nothing but Python and the package registry: the compiler is a pinned wheel, in a folder of
its own under target/. With --check it compares with what is committed and writes nothing.
"""
import argparse
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

COMPILER = "ziglang==0.16.0"
HERE = Path(__file__).resolve().parent
RESEARCH = HERE.parents[2]
ROOT = RESEARCH.parent
# The programs for the postings of the Smart SSD paper.
PAPER = RESEARCH / "lab" / "src" / "smart" / "programs"
FLAGS = ["-target", "wasm32-freestanding", "-mcpu=mvp+mutable_globals+sign_ext", "-std=c11", "-O2", "-ffreestanding", "-nostdlib",
         "-fno-builtin", "-fno-sanitize=all", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-unused-function", "-Werror", "-g0"]
LINKED = ["--no-entry", "--strip-all", "--stack-first", "-z", "stack-size=8192", "--initial-memory=65536", "--gc-sections"]
PROGRAMS = {f"{prefix}{name}": (PAPER, name, define)
            for name in ("intersection", "difference", "union") for prefix, define in (("", []), ("ranked-", ["-DRANKED"]))}
PROGRAMS["early-union"] = (PAPER, "early-union", ["-DRANKED"])
PROGRAMS["lists"] = (HERE, "lists", [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only")
    check = parser.parse_args().check
    python = compiler()
    with tempfile.TemporaryDirectory() as folder:
        differ = [name for name in PROGRAMS if differs(name, build(python, name, Path(folder)), check)]
    if differ and check:
        sys.exit(f"build.py: these differ from their sources: {', '.join(differ)}; run build.py without --check and commit them")
    print("built anew: " + (", ".join(differ) or "nothing, all are as their sources say"))


def compiler():
    """The Python of a folder that has the pinned compiler."""
    folder = ROOT / "target" / COMPILER.replace("==", "-")
    python = folder / "bin" / "python"
    if not (folder / "done").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", COMPILER], check=True)
        (folder / "done").touch()
    return python


def build(python, name, folder):
    home, source, define = PROGRAMS[name]
    # Sources are named without their folder, so no path of this machine gets into the module.
    compiled, out = folder / f"{name}.o", folder / f"{name}.wasm"
    subprocess.run([python, "-m", "ziglang", "cc", *FLAGS, *define, "-I", HERE, "-c", f"{source}.c", "-o", compiled], check=True, cwd=home)
    subprocess.run([python, "-m", "ziglang", "wasm-ld", *LINKED, compiled, "-o", out], check=True)
    return out.read_bytes()


def differs(name, built, check):
    committed = PROGRAMS[name][0] / f"{name}.wasm"
    if committed.exists() and committed.read_bytes() == built:
        return False
    if not check:
        committed.write_bytes(built)
    return True


main()
