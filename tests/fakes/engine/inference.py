"""Inference that says what a test tells it."""

from collections.abc import Iterable, Mapping, Sequence

from core.engine.ports import Entailment
from core.errors import ScorerUnavailable


class FakeInference:
    """An ``Inference``: the given answer for a pair of premise and hypothesis, else neutral; it notes what was asked.

    ``is_down`` makes it fail.
    """

    def __init__(
        self,
        answers: Mapping[tuple[str, str], Entailment] | None = None,
        *,
        languages: Iterable[str] = ("en",),
        is_down: bool = False,
    ) -> None:
        self._answers, self._languages, self._is_down = dict(answers or {}), frozenset(languages), is_down
        self.asked: list[tuple[str, str]] = []

    @property
    def languages(self) -> frozenset[str]:
        return self._languages

    async def infer(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """The answers, in the order of the pairs."""
        self.asked += pairs
        if self._is_down:
            raise ScorerUnavailable("the fake model is down")
        return [self._answers.get(pair, Entailment(0.0, 0.0)) for pair in pairs]
