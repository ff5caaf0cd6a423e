"""Calls to one replica of each shard: a slow one is asked twice, a dead one passed over."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .._errors import DamagedError, DeviceError, LockedError, SearchTimeoutError
from ._errors import UnavailableError
from ._ray import own_error, ray, ray_errors

Request = Callable[[int, Any], Any]
"""Calls an actor of a shard."""

_ITS_OWN = (DamagedError, DeviceError, LockedError)
"""What may be wrong with the disk of one replica, so that another is asked."""

_AVOID = 2.0
"""Seconds that a replica which died or was slow is asked last."""


@dataclass
class Deadline:
    """When a search has to end; it may have no end."""

    seconds: float | None
    begun: float = field(default_factory=time.monotonic)

    def left(self) -> float | None:
        """Seconds that are left, for the engine to keep to."""
        if self.seconds is None:
            return None
        left = self.begun + self.seconds - time.monotonic()
        if left <= 0:
            raise SearchTimeoutError(
                f"the search did not end within {self.seconds} s: "
                "give it more time, or ask for less"
            )
        return left


class Replicas:
    """The actors of all shards, and which of them are asked first."""

    def __init__(self, actors: list[list[Any]], hedge: float) -> None:
        self.actors = actors
        self.hedge = hedge
        self._turn = 0
        self._avoided: dict[tuple[int, int], float] = {}

    def turn(self) -> int:
        """Whose turn it is: replicas take turns from search to search."""
        self._turn += 1
        return self._turn

    def order(self, shard: int, turn: int) -> list[int]:
        """The replicas of a shard in the order to ask them in."""
        number, now = len(self.actors[shard]), time.monotonic()
        turns = [(turn + place) % number for place in range(number)]
        return sorted(turns, key=lambda one: self._avoided.get((shard, one), 0.0) > now)

    def avoid(self, shard: int, replica: int) -> None:
        self._avoided[shard, replica] = time.monotonic() + _AVOID

    def ask(
        self, shards: Iterable[int], request: Request, deadline: Deadline, turn: int
    ) -> tuple[dict[int, Any], dict[int, str]]:
        """The answers of these shards, and why others gave none.

        `request` calls an actor of a shard. What a replica raises that is no sign of its death is
        raised here: another would raise the same.
        """
        return _Round(self, list(shards), request, deadline, turn).run()

    def ask_each(self, request: Request, timeout: float) -> dict[int, str]:
        """Asks every replica; why no replica of a shard answered in time, for those shards."""
        calls = {
            request(shard, actor): shard
            for shard, some in enumerate(self.actors)
            for actor in some
        }
        ready, late = ray.wait(list(calls), num_returns=len(calls), timeout=timeout)
        reasons = {calls[call]: f"no answer within {timeout} s" for call in late}
        answered: set[int] = set()
        for call in ready:
            try:
                result(call)
                answered.add(calls[call])
            except ray_errors.RayError as error:
                reasons[calls[call]] = _sentence(error)
        return {shard: why for shard, why in sorted(reasons.items()) if shard not in answered}

    def ask_all(self, request: Request) -> dict[int, Any]:
        """Asks every replica, and gives an answer of each shard."""
        calls = [
            [request(shard, actor) for actor in some] for shard, some in enumerate(self.actors)
        ]
        answers: dict[int, Any] = {}
        reasons: dict[int, str] = {}
        for shard, some in enumerate(calls):
            for replica, call in enumerate(some):
                try:
                    answers[shard] = result(call)
                except ray_errors.RayError as error:
                    self.avoid(shard, replica)
                    reasons[shard] = _sentence(error)
        need_all({shard: why for shard, why in reasons.items() if shard not in answers}, self)
        return answers


class _Round:
    """One call to each of some shards."""

    def __init__(
        self,
        replicas: Replicas,
        shards: list[int],
        request: Request,
        deadline: Deadline,
        turn: int,
    ) -> None:
        self._replicas = replicas
        self._shards = shards
        self._request = request
        self._deadline = deadline
        self._unasked = {shard: replicas.order(shard, turn) for shard in shards}
        self._open: dict[Any, tuple[int, int]] = {}
        self._hedge_at: dict[int, float] = {}
        self._answers: dict[int, Any] = {}
        self._reasons: dict[int, str] = {}

    def run(self) -> tuple[dict[int, Any], dict[int, str]]:
        for shard in self._shards:
            self._ask_next(shard)
        if not self._take_all():
            self._take_as_they_come()
        return self._answers, self._reasons

    def _take_all(self) -> bool:
        """Waits for all answers at once, since each time that Ray is asked costs.

        Not if one is late or an exception: what came and what did not is seen one by one then.
        """
        calls = list(self._open)
        try:
            answers = ray.get(calls, timeout=self._patience())
        except ray_errors.RayError:
            return False
        for call, answer in zip(calls, answers, strict=True):
            shard, _ = self._open.pop(call)
            self._answers[shard] = answer
        return len(self._answers) == len(self._shards)

    def _take_as_they_come(self) -> None:
        while missing := len(self._shards) - len(self._answers) - len(self._reasons):
            number = min(missing, len(self._open))
            ready, _ = ray.wait(list(self._open), num_returns=number, timeout=self._patience())
            for call in ready:
                self._take(call)
            self._ask_twice()

    def _patience(self) -> float | None:
        """Seconds until something is to be done, whatever the replicas do."""
        waits = [at - time.monotonic() for at in self._hedge_at.values()]
        left = self._deadline.left()
        if left is not None:
            waits.append(left)
        return max(min(waits), 0.0) if waits else None

    def _ask_next(self, shard: int) -> bool:
        """Asks the next replica of a shard; False if each was asked."""
        self._hedge_at.pop(shard, None)
        if not self._unasked[shard]:
            return False
        replica = self._unasked[shard].pop(0)
        call = self._request(shard, self._replicas.actors[shard][replica])
        self._open[call] = (shard, replica)
        if self._unasked[shard]:
            self._hedge_at[shard] = time.monotonic() + self._replicas.hedge
        return True

    def _ask_twice(self) -> None:
        now = time.monotonic()
        for shard in [shard for shard, at in self._hedge_at.items() if at <= now]:
            # One that is started again keeps calls waiting: the next searches ask another first.
            for asked, replica in self._open.values():
                if asked == shard:
                    self._replicas.avoid(shard, replica)
            self._ask_next(shard)

    def _take(self, call: Any) -> None:
        shard, replica = self._open.pop(call)
        if shard in self._answers:
            return
        try:
            self._answers[shard] = result(call)
            self._hedge_at.pop(shard, None)
        except (ray_errors.RayError, *_ITS_OWN) as error:
            self._lost(shard, replica, error)

    def _lost(self, shard: int, replica: int, error: BaseException) -> None:
        self._replicas.avoid(shard, replica)
        if self._ask_next(shard) or any(asked == shard for asked, _ in self._open.values()):
            return
        self._reasons[shard] = _sentence(error)


def result(call: Any) -> Any:
    """The answer of an actor. What it raised of Gannet is raised, else an exception of Ray."""
    try:
        return ray.get(call)
    except ray_errors.RayActorError:
        raise
    except ray_errors.RayError as error:
        own = own_error(error)
        if own is None:
            raise
        # What Ray says of its processes is of no use to who asked.
        raise own from None


def need_all(reasons: Mapping[int, str], replicas: Replicas) -> None:
    """Raises an error that names a shard without an answer, if there is one."""
    for shard, reason in sorted(reasons.items()):
        number = len(replicas.actors[shard])
        raise UnavailableError(
            f"shard {shard}: none of its replicas answers ({number} asked; {reason}): they are "
            "started again where nodes are left; wait, or search with partial=True"
        )


def _sentence(error: BaseException) -> str:
    """What an exception of Ray says first; the rest is about its processes."""
    return str(error).strip().partition("\n")[0]
