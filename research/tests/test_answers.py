import unittest

import answers
from answer_tables import ANSWERS
from columns import cells


class Answers(unittest.TestCase):
    def test_answers_agree_when_scores_do_rank_by_rank(self):
        ours = [[3.0, 2.0], [1.0], []]
        self.assertEqual(answers.agreement(ours, [[3.01, 1.99], [1.0], []]), 1.0)
        self.assertAlmostEqual(answers.agreement(ours, [[3.0], [1.1], []]), 1 / 3, msg="one fewer, and one that differs")
        self.assertEqual(answers.agreement(ours, ours[:2]), 0.0, "as many queries")

    def test_the_table_has_a_column_for_each_peer_that_was_asked(self):
        result = {"agreements": {"mix": {"seekstorm": 0.995, "tantivy": 1.0}, "web-all": {"tantivy": 1.0}}, "rows": []}
        self.assertEqual(cells(ANSWERS, result, {}), [
            ["set", "Tantivy, %", "SeekStorm, %"], ["`mix`", "100.0", "99.5"], ["`web-all`", "100.0", "-"]])


if __name__ == "__main__":
    unittest.main()
