"""A fresh environment of Python with the wheel, for the scripts that measure the package."""
import subprocess
import sys

from harness import CACHE, ROOT, Unable, remove


def wheel(given):
    """The wheel that is given, or that `make wheel` made."""
    wheels = [given] if given else sorted((ROOT / "target/dist").glob("gannet-*.whl"))
    if not wheels or not wheels[-1].exists():
        raise Unable("there is no wheel in target/dist: run `make wheel`, or give --wheel")
    return wheels[-1].resolve()


def made(name, given, packages):
    """The interpreter of a new environment with the wheel and these packages."""
    package = wheel(given)
    folder = CACHE / name
    remove(folder)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", package, *packages], check=True)
    return folder / "bin/python"
