#!/usr/bin/env python3
"""The corpora of the measurements, as JSON lines with `id`, `title` and `body`; each is made
once and kept.

    research/measure/corpora.py [NAME ...] [--twentieth] [--list]

`passages` and `articles` come from the Wikipedia file of the folder GANNET_CORPORA. `linux` is the
source of Debian's kernel package. `passages8` has the passages and seven copies of each. `words`,
`long` and `thirty` are made from random numbers with a fixed seed. The corpora stand in the folder
GANNET_MADE_CORPORA (default: target/corpora). Beside each file stands NAME.size.json with its
documents, its bytes and where it is from. A twentieth of a corpus has every 20th document, from the
first one on.
"""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tarfile
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # For `folders`.

import folders  # The modules of all folders are known behind it.
import harness
from harness import MADE, Unable, note, text_size

SEED = 1
TWENTIETH = 20

LINUX_PACKAGE = "linux-source-6.1"
# Larger files are tables of registers, 29 of them with a fifth of all bytes.
LINUX_FILE_BYTES = 4 << 20
LINUX_ARCHIVE = f"usr/src/{LINUX_PACKAGE}.tar.xz"
# The setting that names another archive of the kernel: a .deb or a .tar.xz.
LINUX_SETTING = "GANNET_LINUX_SOURCE"

# Of `passages8`: copies of each passage, the first without changes; of the others one word in so
# many is renamed.
COPIES, RENAMED = 8, 12
# Files that the shuffle uses; one of them is held in memory at a time.
SHUFFLE_FILES = 128
FIRST_WORD = re.compile(r"\w+")

WORDS_DOCUMENTS = 10_000_000
# Half of the documents of `words` have one of so many words, the others each a word of their own.
WORDS_COMMON = 1000

# Words of `long` and `thirty` take 10.5 bytes on average, with the space behind them.
LETTERS = 6, 13
LONG_WORDS = 1_430_000
THIRTY_DOCUMENTS, THIRTY_WORDS = 30, 280_000


def main():
    options = arguments()
    if options.list:
        for name in CORPORA:
            path = place(name)
            print(f"{name:<12}{json.dumps(text_size(path)) if path.exists() else 'not made yet'}")
        return
    for name in options.names or CORPORA:
        path = twentieth(name) if options.twentieth else corpus(name)
        print(f"{path}: {json.dumps(text_size(path))}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(CORPORA)}; default: all")
    parser.add_argument("--twentieth", action="store_true", help="make the twentieths too")
    parser.add_argument("--list", action="store_true", help="show what is there and make nothing")
    options = parser.parse_args()
    for name in options.names:
        if name not in CORPORA:
            parser.error(f"unknown corpus {name!r}: expected one of {', '.join(CORPORA)}")
    return options


def corpus(name):
    """The file of a corpus, which is made if it is missing."""
    if name not in CORPORA:
        raise Unable(f"unknown corpus {name!r}: expected one of {', '.join(CORPORA)}")
    return CORPORA[name]()


def twentieth(name):
    """The file with every 20th document of a corpus, from the first one on."""
    whole = corpus(name)
    lines = lambda: (line for number, line in enumerate(open(whole, "rb")) if number % TWENTIETH == 0)
    return made(f"{name}.twentieth", lines, f"every {TWENTIETH}th document of {name}")


def place(name):
    return MADE / f"{name}.jsonl"


def made(name, lines, source):
    """A corpus written from lines of JSON, and what it is beside it."""
    path = place(name)
    if path.exists():
        return path
    MADE.mkdir(parents=True, exist_ok=True)
    note(f"making {path}")
    unfinished = path.with_suffix(".unfinished")
    with open(unfinished, "wb") as out:
        out.writelines(lines())
    unfinished.rename(path)
    size = harness.size_of(path) | {"file_bytes": path.stat().st_size, "source": source}
    harness.size_file(path).write_text(json.dumps(size))
    return path


def line(document):
    return (json.dumps(document, ensure_ascii=False) + "\n").encode()


# Source code


def linux():
    """One source file a document, in the order of the archive.

    Files with a NUL byte are binaries and left out, as are files of more than 4 MiB.
    """
    path = place("linux")
    if path.exists():
        return path
    archive = linux_archive()
    return made("linux", lambda: map(line, source_files(archive)), f"{archive.name}, in the order of the archive, files up to {LINUX_FILE_BYTES >> 20} MiB")


def linux_archive():
    """The package or archive: the one that is set, the one that is installed, or one that
    apt-get downloads.
    """
    if LINUX_SETTING in os.environ:
        path = Path(os.environ[LINUX_SETTING])
        if not path.exists():
            raise Unable(f"{LINUX_SETTING} names {path}, which is missing")
        return path
    installed = Path("/") / LINUX_ARCHIVE
    if installed.exists():
        return installed
    folder = MADE / "packages"
    folder.mkdir(parents=True, exist_ok=True)
    if not (found := sorted(folder.glob(f"{LINUX_PACKAGE}_*.deb"))):
        note(f"downloading {LINUX_PACKAGE}")
        done = subprocess.run(["apt-get", "download", LINUX_PACKAGE], cwd=folder, capture_output=True, text=True)
        found = sorted(folder.glob(f"{LINUX_PACKAGE}_*.deb"))
        if done.returncode != 0 or not found:
            raise Unable(f"apt-get download {LINUX_PACKAGE} failed: {done.stderr[-500:].strip()}; run apt-get update, "
                         f"or set {LINUX_SETTING} to the package or to its .tar.xz")
    return found[-1]


def source_files(archive):
    """The text files of the kernel's archive, as documents."""
    if archive.suffix == ".deb":
        with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", archive], stdout=subprocess.PIPE) as unpacking, \
                tarfile.open(fileobj=unpacking.stdout, mode="r|") as package:
            inner = next((member for member in package if member.name.removeprefix("./") == LINUX_ARCHIVE), None)
            if inner is None:
                raise Unable(f"{archive} has no {LINUX_ARCHIVE}: expected Debian's package {LINUX_PACKAGE}")
            yield from text_files(package.extractfile(inner))
            unpacking.kill()  # What follows in the package is not needed.
    else:
        with open(archive, "rb") as file:
            yield from text_files(file)


def text_files(packed):
    with tarfile.open(fileobj=packed, mode="r|xz") as files:
        for member in files:
            if not member.isfile() or member.size > LINUX_FILE_BYTES:
                continue
            content = files.extractfile(member).read()
            if b"\0" not in content:
                name = member.name.partition("/")[2]
                yield {"id": name, "title": name, "body": content.decode(errors="replace")}


# Copies


def passages8():
    """The passages and seven copies of each with renamed words, in the order of the checksums of
    their IDs.
    """
    path = place("passages8")
    if path.exists():
        return path
    source = harness.passages()
    return made("passages8", lambda: shuffled(copies(source)), f"{COPIES} times the passages, one word in {RENAMED} of a copy renamed")


def copies(source):
    """(ID, line) of each passage and its copies."""
    for passage in harness.documents(source):
        yield passage["id"], line(passage)
        for copy in range(1, COPIES):
            name = f"{passage['id']}~{copy}"
            yield name, line({"id": name, "title": passage["title"], "body": renamed(passage["body"], name, f"x{copy}")})


def renamed(text, name, suffix):
    """The text with a suffix at every twelfth word; the name decides at which word this begins."""
    words = text.split(" ")
    first = zlib.crc32(name.encode()) % RENAMED
    words[first::RENAMED] = [FIRST_WORD.sub(lambda word: word[0] + suffix, word, count=1) for word in words[first::RENAMED]]
    return " ".join(words)


def shuffled(named_lines):
    """Lines in the order of the checksums of their names; memory for one file of the shuffle."""
    folder = MADE / "shuffle"
    harness.remove(folder)
    folder.mkdir(parents=True)
    files = [open(folder / str(number), "wb") for number in range(SHUFFLE_FILES)]
    for name, text in named_lines:
        # Twice, as a checksum of names that differ little differs in few bits.
        key = zlib.crc32(b"%08x" % zlib.crc32(name.encode()))
        files[key * SHUFFLE_FILES >> 32].write(b"%08x" % key + text)
    for file in files:
        file.close()
    for number in range(SHUFFLE_FILES):
        with open(folder / str(number), "rb") as file:
            lines = sorted(file)
        (folder / str(number)).unlink()
        yield from (text[8:] for text in lines)
    folder.rmdir()


# Made up


def words():
    """Ten million documents of one word and no ID; half of the words are common, the others
    occur once.
    """
    def lines():
        for number in range(WORDS_DOCUMENTS):
            # A multiplication by an odd number modulo a power of two gives each number another
            # value, of well mixed high bits.
            key = number * 2654435761 % (1 << 32)
            word = f"common{(key >> 8) % WORDS_COMMON}" if key >> 31 else f"w{key:x}"
            yield b'{"body": "%s"}\n' % word.encode()
    return made("words", lines, f"one word a document, half of them one of {WORDS_COMMON} common ones")


def long():
    """One document of 15 MB whose words are all different."""
    def lines():
        return [line({"id": "long", "title": "long", "body": distinct_words(random.Random(SEED), LONG_WORDS)})]
    return made("long", lines, f"seed {SEED}: one document of distinct words")


def thirty():
    """Thirty documents of 3 MB, each with 280,000 random words that are all different."""
    def lines():
        for number in range(THIRTY_DOCUMENTS):
            body = distinct_words(random.Random(f"{SEED}-{number}"), THIRTY_WORDS)
            yield line({"id": f"thirty-{number}", "title": f"thirty {number}", "body": body})
    return made("thirty", lines, f"seed {SEED}: {THIRTY_DOCUMENTS} documents of {THIRTY_WORDS} distinct words")


def distinct_words(numbers, count):
    """So many different words of 6 to 13 letters and digits, in the order in which they were
    drawn.
    """
    found = {}
    while len(found) < count:
        letters = numbers.randint(*LETTERS)
        found[f"{numbers.getrandbits(4 * letters):0{letters}x}"] = None
    return " ".join(found)


CORPORA = {"passages": harness.passages, "articles": harness.articles, "linux": linux, "long": long, "thirty": thirty,
           "words": words, "passages8": passages8}


if __name__ == "__main__":
    try:
        main()
    except Unable as error:
        sys.exit(f"corpora: {error}")
