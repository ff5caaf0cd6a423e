"""Tests of `research/measure/instructions.py` without valgrind."""
import json
import unittest

import instructions


class Instructions(unittest.TestCase):
    def test_queries_are_words_that_stand_side_by_side_and_the_same_each_time(self):
        words = "one two three four five".split()
        lines = [json.dumps({"body": text}).encode() for text in [" ".join(words), "too short"]]
        drawn = instructions.queries(lines, 40, 1)
        self.assertEqual(drawn, instructions.queries(lines, 40, 1))
        self.assertNotEqual(drawn, instructions.queries(lines, 40, 2))
        kinds = {kind: set() for kind in instructions.KINDS}
        for line in drawn:
            kind, text = line.split("\t")
            kinds[kind].add(len(text.split()))
            self.assertIn(text, " ".join(words))
        self.assertEqual(kinds, {"term": {1}, "or": {2, 3}, "and": {2, 3}, "phrase": {2, 3}})

    def test_each_row_is_compared_with_the_first_program(self):
        def row(program, of, count, *more):
            return {"program": program, "of": of, "with": list(more), "instructions": count}

        rows = [row("a", "query", 200), row("b", "query", 210), row("b", "query", 20, "--result-cache", "1MiB"), row("a", "document", 5)]
        lines = list(instructions.report(rows))
        self.assertEqual([line.split()[-2] for line in lines], ["+0.00", "+5.00", "-90.00", "+0.00"])
        self.assertIn("b --result-cache 1MiB", lines[2])

    def test_programs_have_names(self):
        self.assertEqual(instructions.named("before=a=b"), ("before", "a=b"))
        for text in ["gannet", "=gannet", "before="]:
            with self.assertRaises(instructions.argparse.ArgumentTypeError):
                instructions.named(text)

    def test_a_program_that_valgrind_cannot_run_is_told_with_how_to_build_one(self):
        with self.assertRaises(instructions.Unable) as raised:
            instructions.run(["sh", "-c", "echo SIGSEGV >&2; exit 139"])
        self.assertIn("rustix/use-libc-auxv", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
