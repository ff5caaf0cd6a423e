"""Tests of what makes figures: result files, tables, cases, made-up texts. `make check` in research/ runs
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

TABLES = results.ROOT / "scripts" / "tables"
MIB = 1 << 20
FACTORS = {"corpus": list("abcdefg"), "memory": [16, 32, 64, 256, 1024], "backend": ["u", "p"], "threads": [1, 2, 8], "work": list("sbvr")}


class Tables(unittest.TestCase):
    """`scripts/tables` on a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "docs" / "results").mkdir(parents=True)
        rows = [{"set": name, "engine": engine, "threads": 8, "qps": rate, "bytes_read_per_query": {"os": 1000.0}, "cpu_us_per_query": 5.0,
                 "latency_us_p99": 30} for name, engine, rate in [
                     ("mix", "gannet", 1000.0), ("mix", "gannet", 3000.0), ("mix", "gannet", 2000.0), ("mix", "tantivy", 800.0)]]
        result = results.environment("lab", self.root) | {"settings": {}, "rows": rows}
        (self.root / "docs" / "results" / "lab.json").write_text(json.dumps(result))

    def write(self, marker, body="", end="<!-- end -->"):
        (self.root / "README.md").write_text(f"before\n{marker}\n{body}{end}\nbehind\n")

    def tables(self, *options):
        return subprocess.run([sys.executable, TABLES, "--root", self.root, *options], capture_output=True, text=True)

    def test_a_table_of_a_page_below_docs_is_found(self):
        (self.root / "README.md").touch()
        page = self.root / "docs" / "experiments" / "memory.md"
        page.parent.mkdir()
        page.write_text("<!-- table: queries from lab.json -->\n<!-- end -->\n")
        self.assertIn("docs/experiments/memory.md:1", self.tables().stdout)
        self.assertIn("| mix | 2,000 | 800 |", page.read_text())

    def test_a_table_that_differs_is_found_and_written(self):
        self.write("<!-- table: queries threads=8 from lab.json -->", "| old |\n")
        self.assertEqual(self.tables("--check").returncode, 1)
        self.assertIn("README.md:2", self.tables("--check").stderr)
        self.assertIn("| old |", (self.root / "README.md").read_text(), "a check changes nothing")
        self.assertEqual(self.tables().returncode, 0)
        text = (self.root / "README.md").read_text()
        self.assertIn("| mix | 2,000 | 800 |", text, "medians of the repetitions, by engine")
        self.assertIn("| 2.50 |", text, "the ratio")
        self.assertTrue(text.startswith("before\n<!-- table:") and text.endswith("<!-- end -->\nbehind\n"))
        self.assertEqual(self.tables("--check").returncode, 0)

    def test_a_figure_changed_by_hand_is_found(self):
        self.write("<!-- table: queries from lab.json -->")
        self.tables()
        readme = self.root / "README.md"
        readme.write_text(readme.read_text().replace("2,000", "9,000"))
        self.assertEqual(self.tables("--check").returncode, 1)

    def test_corpora_of_several_files_make_one_table(self):
        rates = {"few.json": {"gannet": 300.0, "tantivy": 100.0, "lucene": 200.0}, "many.json": {"gannet": 50.0, "tantivy": 100.0}}
        for file, of in rates.items():
            rows = [{"set": "mix", "share": share, "engine": name, "qps": rate * (share or 1)} for share in (0, 16) for name, rate in of.items()]
            result = results.environment("lab", self.root) | {"settings": {"corpus": file[:-5]}, "rows": rows}
            (self.root / "docs" / "results" / file).write_text(json.dumps(result))
        self.write("<!-- table: peers-ratios from few.json many.json -->")
        self.assertEqual(self.tables().returncode, 0)
        text = (self.root / "README.md").read_text()
        self.assertIn("| corpus and set | 1/16: Tantivy | 1/16: Lucene | no limit: Tantivy | no limit: Lucene |", text)
        self.assertIn("| few, `mix` | 3.0 | 1.5 | 3.0 | 1.5 |", text)
        self.assertIn("| many, `mix` | 0.50 | - | 0.50 | - |", text)
        self.assertIn("docs/results/many.json", text, "where the figures of the second file are from")

    def test_markers_that_cannot_be_filled_are_errors(self):
        for marker, end, told in [
                ("<!-- table: queries from none.json -->", "<!-- end -->", "docs/results/none.json is missing"),
                ("<!-- table: other from lab.json -->", "<!-- end -->", "unknown table 'other'"),
                ("<!-- table: queries lab.json -->", "<!-- end -->", "is no marker"),
                ("<!-- table: queries threads=9 from lab.json -->", "<!-- end -->", "no row of the result fits"),
                ("<!-- claims of OTHER -->", "<!-- end -->", "names no page with claims"),
                ("<!-- claims of README.md -->", "<!-- end -->", "a claim of README.md cannot be computed"),
                ("<!-- table: queries from lab.json -->", "", "the table has no end")]:
            self.write(marker, end=end)
            for options in ([], ["--check"]):
                done = self.tables(*options)
                self.assertEqual((done.returncode, told in done.stderr), (1, True), done.stderr)


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
