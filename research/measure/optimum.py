"""The most hits that any cache can have: Belady's MIN, which knows all requests beforehand."""
import heapq

NEVER = 1 << 62


def hits(trace, capacity):
    """For each request of a trace, whether it hits a cache of so many pages that was empty at the
    begin.

    A page that was requested may enter the cache or not, and in its place leaves the page that is
    requested again last. Pages have one size, so no other choice has more hits (Belady, 1966).
    """
    following, last = [NEVER] * len(trace), {}
    for at in range(len(trace) - 1, -1, -1):
        following[at] = last.get(trace[at], NEVER)
        last[trace[at]] = at
    held, latest, hit = {}, [], []
    for at, page in enumerate(trace):
        hit.append(page in held)
        held[page] = following[at]
        heapq.heappush(latest, (-following[at], page))
        while len(held) > capacity:
            use, page = heapq.heappop(latest)
            # What the heap says of a page that was requested since is out of date.
            if held.get(page) == -use:
                del held[page]
    return hit
