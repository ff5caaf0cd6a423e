import unittest

import answers


class Answers(unittest.TestCase):
    def test_answers_agree_when_scores_do_rank_by_rank(self):
        ours = [[3.0, 2.0], [1.0], []]
        self.assertEqual(answers.agreement(ours, [[3.01, 1.99], [1.0], []]), 1.0)
        self.assertAlmostEqual(answers.agreement(ours, [[3.0], [1.1], []]), 1 / 3, msg="one fewer, and one that differs")
        self.assertEqual(answers.agreement(ours, ours[:2]), 0.0, "as many queries")


if __name__ == "__main__":
    unittest.main()
