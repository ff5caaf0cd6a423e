"""Tests of scripts on corpora that are small, as in `research/measure/quick.py`."""
import shutil
import types
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory

import filters
import limits
import remote
from harness import MIB, Unable


class Small(unittest.TestCase):
    def test_a_program_that_gives_no_figures_is_told(self):
        engine = types.SimpleNamespace(filters="common", command="false")
        options = types.SimpleNamespace(index_memory=64)
        with TemporaryDirectory() as folder, self.assertRaisesRegex(Unable, "ended with 1"):
            filters.index(engine, Path("corpus.jsonl"), Path(folder), options)

    def test_no_cache_is_less_than_the_command_takes(self):
        self.assertEqual(remote.cache_sizes(10 * MIB), [20 * MIB, 8 * MIB])
        self.assertEqual(remote.cache_sizes(400 * MIB), [800 * MIB, 100 * MIB])

    @unittest.skipUnless(shutil.which("fincore"), "fincore is missing")
    def test_an_index_is_read_into_the_page_cache(self):
        with TemporaryDirectory() as folder:
            for name, length in (("first", 3 * MIB), ("sub/second", 4096)):
                path = Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(bytes(length))
            limits.forget(folder)
            limits.read(folder)
            self.assertEqual(limits.cached_bytes(folder), 3 * MIB + 4096)


if __name__ == "__main__":
    unittest.main()
