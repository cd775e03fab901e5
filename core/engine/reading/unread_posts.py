"""The answer to a post that no model is asked about: code, or words in a language that Antiphon does not know.

A post in which the words of any language call for violence is reported all the same; a person may force drafts.
"""

from __future__ import annotations

from dataclasses import replace

from core.engine.llm.budget import Budget
from core.engine.llm.profiles import Profile
from core.engine.reading.posts import decide
from core.engine.reading.signals import check_text, signals_of_words
from core.engine.wording.language import language_of_post
from core.i18n.sentences import sentence
from core.models import Action, Cost, FlaggedPost, Reading, Suggestion

STOPPED = sentence("a reply is advised against")


def nothing_known(post: FlaggedPost, language: str) -> Suggestion:
    """What there is to hold a person's own reply against where the engine said nothing of the post.

    Args:
        language: the community's language, which is assumed where that of the post is unclear. Blocking.
    """
    reading = Reading(
        language=language_of_post(post.text, language),
        target_group=None,
        offensiveness=None,
        speaker_intent=None,
        power_dynamics=None,
        implied_meaning=None,
        emotional_reaction=None,
        cognitive_reaction=None,
        severity=None,
        recommended_action=Action.REPLY,
        reason=sentence("Nothing is known of this post."),
    )
    cost = Cost("", 0.0, None, 0, 0, 0, 0, 0, STOPPED)
    return Suggestion(post, reading, (), None, (), (), (), cost)


def without_a_model(
    post: FlaggedPost, profile: Profile, *, expected: str, language: str | None, also: frozenset[str] = frozenset()
) -> Suggestion | None:
    """The suggestion for a post that no model is asked about; ``None`` for any other post. Blocking.

    Args:
        expected: the community's language, assumed for posts whose language is unclear.
        language: the language that a person named, which needs no detection.
        also: the languages in which the model that writes reads alone.

    Raises:
        BadInput: the post is empty, too long, or holds no words.
    """
    budget, checked = Budget(profile), check_text(post.text)
    signals = signals_of_words(checked.value, expected, language, also)
    if signals.is_readable:
        return None
    reading = decide(signals, {}, violent=signals.calls_for_violence)
    seconds = round(budget.seconds, 3)
    return Suggestion(
        post=replace(post, text=checked.value),
        reading=reading,
        claims=(),
        claim=None,
        queries=(),
        evidence=(),
        drafts=(),
        cost=Cost(profile.name, seconds, None, 0, 0, 0, 0, 0, STOPPED),
        degraded=(*checked.notes, *signals.notes),
    )
