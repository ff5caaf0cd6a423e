"""A fresh environment of Python, for the scripts that measure the package."""
import hashlib
import subprocess
import sys

from harness import CACHE, ROOT, Unable, remove


def wheel(given):
    """The wheel that is given, or that `make wheel` made."""
    wheels = [given] if given else sorted((ROOT / "target/dist").glob("gannet-*.whl"))
    if not wheels or not wheels[-1].exists():
        raise Unable("there is no wheel in target/dist: run `make wheel`, or give --wheel")
    return wheels[-1].resolve()


def identified(wheel):
    """What a result says of a wheel."""
    return {"name": wheel.name, "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest()}


def made(name, packages):
    """The interpreter of a new environment with these packages, each a name or the path of a wheel."""
    folder = CACHE / name
    remove(folder)
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    return folder / "bin/python"
