"""Whose wish counts when a draft is written: the asker's, then the community's, then the installation's."""

from dataclasses import replace

from core.desk.drafting.request import is_asked, voice_for
from core.desk.rules.policy import CommunityPolicy
from core.engine.request import Voice
from core.models import Intent, Priority, Wish
from tests.fakes.engine.brief import post_of

CONFIGURED = Voice("en", "plain", (Intent.INFORMATIVE, Intent.EMPATHETIC), 480)
SET = CommunityPolicy(language="eu", tone="dry", intents=(Intent.QUESTIONING, Intent.POSITIVE))


def test_a_community_that_set_nothing_speaks_as_configured() -> None:
    """Its cards do not change the voice."""
    assert voice_for(CONFIGURED, CommunityPolicy(review_channel="1", one_in=500), Wish()) == CONFIGURED


def test_a_community_speaks_as_it_set_within_the_platforms_limit() -> None:
    """Language, style and intents; never the length, which is the platform's."""
    assert voice_for(CONFIGURED, SET, Wish()) == Voice("eu", "dry", SET.intents, 480)


def test_what_is_wished_for_one_draft_comes_first() -> None:
    """One intent alone, and the tone; the language is the request's, since a person named it."""
    assert voice_for(CONFIGURED, SET, Wish(Intent.DENOUNCING, "es", "firm")) == Voice(
        "eu", "firm", (Intent.DENOUNCING,), 480
    )
    assert voice_for(CONFIGURED, SET, Wish(tone="firm")).intents == SET.intents


def test_the_communitys_notice_comes_before_the_configured_one() -> None:
    """By language; "" is none, and a language that it did not name keeps what was configured."""
    configured = replace(CONFIGURED, notices={"en": "Be kind.", "es": "Con respeto.", "it": "Con rispetto."})
    policy = CommunityPolicy(norm_notice={"en": "Rule 3.", "es": ""})
    assert voice_for(configured, policy, Wish()).notices == {"en": "Rule 3.", "it": "Con rispetto."}
    assert voice_for(configured, CommunityPolicy(), Wish()).notices == configured.notices


def test_who_flags_asks_for_nothing() -> None:
    """Only a draft on demand does, or what is wished of one."""
    assert not is_asked(post_of())
    assert is_asked(replace(post_of(), priority=Priority.ASKED))
    assert is_asked(replace(post_of(), wish=Wish(Intent.POSITIVE)))
