"""Tests of `research/measure/optimum.py` against a search of all choices."""
import functools
import random
import unittest

import optimum


def most_hits(trace, capacity):
    """By trying everything."""
    @functools.cache
    def best(at, held):
        if at == len(trace):
            return 0
        page = trace[at]
        with_page = held | {page}
        choices = [with_page] if len(with_page) <= capacity else [with_page - {other} for other in with_page]
        return (page in held) + max(best(at + 1, choice) for choice in choices)
    return best(0, frozenset())


class Optimum(unittest.TestCase):
    def test_no_choice_has_more_hits(self):
        draw = random.Random(1)
        for _ in range(60):
            trace = [draw.randrange(6) for _ in range(draw.randrange(14))]
            for capacity in range(4):
                self.assertEqual(sum(optimum.hits(trace, capacity)), most_hits(tuple(trace), capacity), (trace, capacity))

    def test_a_cache_that_holds_everything_misses_each_page_once(self):
        self.assertEqual(optimum.hits([1, 2, 1, 3, 2], 3), [False, False, True, False, True])


if __name__ == "__main__":
    unittest.main()
