#!/usr/bin/env python3
"""A fresh clone gives a demonstration and passes its tests, each by one command, in bounded time."""
import os
import subprocess
import tempfile
from pathlib import Path

from measure import ROOT, Show, note, run

TEST_SECONDS = 20 * 60


def main():
    with Show(1) as show, tempfile.TemporaryDirectory(prefix="gannet-show-") as folder:
        clone = Path(folder) / "gannet"
        subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
        for name in ["CARGO_TARGET_DIR", "GANNET_CORPORA", "GANNET_BACKEND"]:
            os.environ.pop(name, None)
        for target, limit in [("demo", None), ("test", TEST_SECONDS)]:
            note(f"make {target} in {clone}")
            done = run(["make", target], folder=clone, timeout=2 * TEST_SECONDS)
            if done.code != 0:
                note((done.output + done.errors)[-4000:])
            show.equal(f"make {target}: exit code", done.code, 0)
            if limit:
                show.at_most(f"make {target}: seconds", round(done.seconds, 1), limit)
            else:
                show.known(f"make {target}: seconds with the build", round(done.seconds, 1))


main()
