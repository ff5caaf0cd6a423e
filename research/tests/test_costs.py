"""Tests of `research/measure/costs.py` without any program."""
import unittest

import costs


class Costs(unittest.TestCase):
    def test_variables_and_sets_stand_around_the_file_of_a_program(self):
        self.assertEqual(costs.started("ONE=1 TWO= bin/gannet@and-1000,web"), ({"ONE": "1", "TWO": ""}, "bin/gannet", ["and-1000", "web"]))
        self.assertEqual(costs.started("bin/gannet"), ({}, "bin/gannet", []))

    def test_queries_are_of_their_level_and_the_same_each_time(self):
        words = costs.Words.__new__(costs.Words)
        words.texts = [["rare", "one"], ["one", "two"], ["one", "two"], ["one", "two", "one"]]
        words.documents = {"rare": 1, "one": 4, "two": 3}
        self.assertEqual(set(words.queries("term-10", 9, 1)), {"term\tone\n"})
        self.assertEqual(set(words.queries("term-1", 9, 1)), {"term\trare\n", "term\ttwo\n"})
        self.assertEqual(words.queries("phrase-1", 9, 1), words.queries("phrase-1", 9, 1))
        self.assertTrue(all(line.startswith("phrase\t") for line in words.queries("phrase-1", 9, 1)))

    def test_programs_are_compared_with_the_first_on_the_same_set(self):
        def row(name, program, count):
            return {"corpus": "c", "set": name, "program": program, "instructions": count, "reads": 2, "bytes": 8, "rounds": 1}

        rows = [row("and", "all", 200), row("and", "sums", 210), row("web", "all", 100), row("web", "sums", 90)]
        self.assertIn("+5.00", list(costs.report(rows))[1])


if __name__ == "__main__":
    unittest.main()
