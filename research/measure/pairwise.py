"""Cases that cover all pairs: few of all combinations, in which each two values of two settings
meet at least once.
"""
import itertools


def covering(factors, count):
    """So many cases, each a value of every factor; all pairs first, then as many triples as fit.
    The same at every run.

    `factors` is {name: values}. Fewer cases than all pairs need are an error; more than there are
    combinations are not given.
    """
    names = list(factors)
    every = list(itertools.product(*factors.values()))
    chosen, covered = [], set()
    missing = set(tuples(names, every, 2))
    while missing - covered:
        take_best(names, every, chosen, covered, (2,))
    if len(chosen) > count:
        raise ValueError(f"all pairs need {len(chosen)} cases, {count} were asked for: give at least so many")
    covered |= {tuple_ for case in chosen for tuple_ in tuples(names, [case], 3)}
    while len(chosen) < min(count, len(every)):
        take_best(names, every, chosen, covered, (3, 2))
    return [dict(zip(names, case)) for case in chosen]


def take_best(names, every, chosen, covered, sizes):
    """Moves the case with the most that is new; among equals, the one whose values were taken
    least often.
    """
    taken = set(chosen)
    used = lambda case: sum(case[at] == other[at] for other in chosen for at in range(len(names)))
    new = lambda case: [sum(tuple_ not in covered for tuple_ in tuples(names, [case], size)) for size in sizes]
    best = max((case for case in every if case not in taken), key=lambda case: (new(case), -used(case)))
    chosen.append(best)
    for size in sizes:
        covered.update(tuples(names, [best], size))


def tuples(names, cases, size):
    """All combinations of so many settings with their values that the cases have."""
    for case in cases:
        yield from itertools.combinations(zip(names, case), size)
