"""Tests of what makes figures: result files, cases, made-up texts. `make check` in research/ runs
them.
"""
import itertools
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import corpora
import memory_bounds
import pairwise
import peaks
import questions
import results

MIB = 1 << 20
FACTORS = {"corpus": list("abcdefg"), "memory": [16, 32, 64, 256, 1024], "backend": ["u", "p"], "threads": [1, 2, 8], "work": list("sbvr")}


class Results(unittest.TestCase):
    def test_a_file_says_where_and_how_and_keeps_every_row(self):
        with tempfile.TemporaryDirectory() as folder:
            result = results.Result("try", {"threads": 2}, f"{folder}/try.json")
            result.rows += [{"seconds": 1}, {"seconds": 2}]
            read = json.loads(result.write().read_text())
        self.assertEqual(read["rows"], [{"seconds": 1}, {"seconds": 2}])
        self.assertEqual(read["settings"], {"threads": 2})
        for name in ("date", "commit", "uncommitted_changes", "command", "machine"):
            self.assertIn(name, read)
        for name in ("processor", "cores", "memory_bytes", "kernel", "disk"):
            self.assertTrue(read["machine"][name], name)

    def test_rows_of_another_commit_or_program_are_not_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/try.json"
            first = results.Result("try", {"program": "a"}, path)
            first.rows.append({"seconds": 1})
            first.write()
            for program, kept in (("a", 1), ("b", 0)):
                again = results.Result("try", {"program": program}, path)
                again.resume(lambda earlier: earlier["program"] == program)
                self.assertEqual(len(again.rows), kept)
            again = results.Result("try", {"program": "a"}, path)
            again.head["commit"] = "another"
            again.resume(lambda earlier: True)
            self.assertEqual(again.rows, [])


class Latencies(unittest.TestCase):
    def test_threads_by_rate_are_the_mean_latency(self):
        """Each thread asks one query after the other, so a clock that starts late or drops queries shows here."""
        rows = [row for path in results.all_committed().values() for row in json.loads(path.read_text()).get("rows", [])]
        asked = [row for row in rows if all(row.get(name) for name in ("threads", "qps", "latency_us_mean"))]
        self.assertGreater(len(asked), 500)
        for row in asked:
            mean = row["threads"] / row["qps"] * 1e6
            self.assertLess(abs(mean / row["latency_us_mean"] - 1), 0.12, (row["engine"], row["set"], row["threads"]))


class Memory(unittest.TestCase):
    def test_cases_cover_all_pairs(self):
        cases = pairwise.covering(FACTORS, 60)
        self.assertEqual(len({tuple(case.values()) for case in cases}), 60)
        for (one, values), (two, others) in itertools.combinations(FACTORS.items(), 2):
            for pair in itertools.product(values, others):
                self.assertTrue(any((case[one], case[two]) == pair for case in cases), (one, two, pair))
        self.assertEqual(cases, pairwise.covering(FACTORS, 60), "the same at every run")
        with self.assertRaises(ValueError):
            pairwise.covering(FACTORS, 20)

    @unittest.skipUnless(sys.platform == "linux", "the unit of ru_maxrss is Linux's")
    def test_the_instruments_see_known_memory(self):
        self.assertAlmostEqual(peaks.self_test()["200_mib"] / MIB, 200, delta=2)

    def test_a_command_that_takes_too_long_is_ended(self):
        row, _ = peaks.measured(["sleep", "100"], timeout=0.2)
        self.assertTrue(row["timed_out"])
        self.assertLess(row["seconds"], 50)

    def test_each_bound_is_told(self):
        row = {"excess_bytes": 0, "killed": False, "timed_out": False, "exit_code": 0}
        self.assertEqual(memory_bounds.broken(row), [])
        self.assertEqual(memory_bounds.broken(row | {"exit_code": 1, "excess_bytes": 32 * MIB}), [])
        for change in ({"excess_bytes": 33 * MIB}, {"excess_bytes": 65 * MIB}, {"killed": True}, {"timed_out": True, "exit_code": None},
                       {"exit_code": 2}, {"exit_code": -11}, {"exit_code": 1, "looked_at_all": False}):
            self.assertEqual(len(memory_bounds.broken(row | change)), 1, change)


class Texts(unittest.TestCase):
    def test_one_word_in_twelve_of_a_copy_is_renamed(self):
        text = " ".join(f"word{number}." for number in range(120))
        renamed = corpora.renamed(text, "7#1~3", "x3").split(" ")
        changed = [(old, new) for old, new in zip(text.split(" "), renamed) if old != new]
        self.assertEqual(len(changed), 10)
        self.assertTrue(all(new == old.replace(".", "x3.") for old, new in changed))

    def test_words_of_a_document_are_distinct(self):
        words = corpora.distinct_words(corpora.random.Random(1), 5000).split()
        self.assertEqual(len(set(words)), 5000)

    def test_questions_come_from_the_text(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "texts.jsonl"
            path.write_text("".join(json.dumps({"id": str(number), "body": f"common word{number % 10}x and others{number}"}) + "\n"
                                    for number in range(1000)))
            asked = questions.Questions(path)
        self.assertEqual(asked.searches["phrase-2"], ['body:"common word0x"'])
        self.assertEqual(len(asked.searches["phrase-1024"][0].split()), 1024)
        self.assertTrue(all("\t" in line for line in asked.bench_lines))
        self.assertEqual(asked.tenth.count("body:"), 1, "each of ten words is in a tenth")

    def test_a_sample_of_a_large_file_comes_from_all_over_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "texts.jsonl"
            path.write_text("".join(json.dumps({"body": f"word{number:06d} {'x' * (number % 97)}"}) + "\n" for number in range(50_000)))
            found = [int(document["body"][4:10]) for document in questions.sample(path)]
        self.assertEqual(len(found), questions.SAMPLED)
        self.assertEqual(found, sorted(set(found)))
        self.assertGreater(found[-1], 49_900)


if __name__ == "__main__":
    unittest.main()
