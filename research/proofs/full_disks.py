#!/usr/bin/env python3
"""A full disk refuses writes in words, reads go on, and writing goes on when there is space: on file systems of 8 to 64 MiB."""
import argparse
import contextlib
import json
import os
import random
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
from harness import CACHE, MIB, Claims, Unable, gannet, note, remove, run

SIZES_MIB = range(8, 65)
MEMORY = "16MiB"
# What stands on each file system beside the index until there must be space.
BALLAST_SHARE = 0.5
WORDS = 300


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, default=len(SIZES_MIB))
    options = parser.parse_args()
    sizes = list(SIZES_MIB)[:options.sizes]
    with Claims("full_disks", memory=MEMORY, sizes_mib=sizes, file_system="ext4 on a loop device") as claims:
        refusal = forbidden()
        if refusal:
            claims.known("left out, since no file system can be mounted here", refusal)
            return
        command = gannet()
        rows = [fill(command, size) for size in sizes]
        claims.settings["sizes"] = rows
        claims.equal("sizes", len(rows), options.sizes)
        for name, holds in [("refused in words, exit code 2", "refused"), ("searched while full", "searched"),
                            ("sound while full", "sound"), ("gone on when there was space", "went_on")]:
            claims.equal(name, sum(row[holds] for row in rows), len(rows))
        claims.known("least of the space that documents had taken when writes were refused", min(row["taken"] for row in rows))


def forbidden():
    """Why nothing can be mounted here, or None."""
    if os.geteuid() != 0:
        return "mounting needs root"
    try:
        with mounted(8):
            return None
    except (Unable, OSError) as error:
        return str(error)


@contextlib.contextmanager
def mounted(mib):
    """A folder on an ext4 of its own, of so many MiB."""
    CACHE.mkdir(parents=True, exist_ok=True)
    image, folder = CACHE / "full_disks.img", CACHE / "full_disks"
    remove(image)
    folder.mkdir(exist_ok=True)
    with open(image, "wb") as file:
        file.truncate(mib * MIB)
    system(["mkfs.ext4", "-q", "-F", "-m", "0", image])
    system(["mount", "-o", "loop", image, folder])
    try:
        yield folder
    finally:
        system(["umount", folder])
        remove(image)


def system(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise Unable(f"{' '.join(map(str, command))} failed: {done.stderr.strip()}")


def fill(command, mib):
    """Fills one file system, looks at what stands there, makes space, and goes on."""
    with mounted(mib) as folder:
        ballast = folder / "ballast"
        ballast.write_bytes(os.urandom(int(mib * MIB * BALLAST_SHARE)))
        index, lines = folder / "index", folder.parent / "full_disks.jsonl"
        # A source larger than the whole file system, of words that do not compress.
        write_documents(lines, 0, mib * MIB // 2000)
        free = space(folder)
        full = run([command, "index", index, lines, "--memory", MEMORY, "--json"])
        there = run([command, "stats", index, "--memory", MEMORY, "--json"]).json()["documents"]
        taken = 1 - space(folder) / free
        found = run([command, "search", index, "all", "--memory", MEMORY, "--json"]).json()["total"]
        last = run([command, "search", index, f"n:{there - 1}", "--memory", MEMORY, "--json"]).json()
        sound = run([command, "check", index, "--memory", MEMORY, "--json"])
        ballast.unlink()
        more = max(1, there // 4)
        write_documents(lines, there, there + more)
        again = run([command, "index", index, lines, "--memory", MEMORY, "--json"])
        after = run([command, "search", index, "all", "--memory", MEMORY, "--json"]).json()["total"]
        whole = run([command, "check", index, "--memory", MEMORY, "--json"])
        remove(lines)
        row = {
            "mib": mib, "documents": there, "taken": round(taken, 3), "error": full.errors.strip()[:300],
            "refused": full.code == 2 and "space" in full.errors and "panicked" not in full.errors,
            "searched": found == there > 0 and last["total"] == 1,
            "sound": sound.code == 0,
            "went_on": again.code == 0 and after == there + more and whole.code == 0,
        }
        note(json.dumps(row))
        return row


def space(folder):
    """Bytes that are free."""
    told = os.statvfs(folder)
    return told.f_bavail * told.f_frsize


def write_documents(path, first, end):
    """Documents with the numbers from `first` on, each with words of its own."""
    with open(path, "w") as file:
        for number in range(first, end):
            words = random.Random(number)
            body = " ".join(f"{words.getrandbits(48):x}" if words.random() < 0.3 else f"w{words.randrange(2000)}" for _ in range(WORDS))
            file.write(json.dumps({"id": str(number), "n": number, "body": f"all {body}"}) + "\n")


main()
