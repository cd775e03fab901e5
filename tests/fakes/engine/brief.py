"""What a draft is written from, made from a few words; every text is invented."""

import json
from dataclasses import replace

from core.engine.llm.budget import LIVE, Budget, MeteredModel, Profile
from core.engine.ports import LanguageModel
from core.engine.request import Voice
from core.models import Action, Brief, Evidence, FlaggedPost, PostRef, Reading, Source, TargetGroup

POST = "Migrants only come here to live off our welfare."
CLAIM = "Newcomers work and pay their way like the rest of us."
HARBOUR = "In 2021, newcomers held 340 of the 900 jobs in the harbour."

PATIENT = replace(LIVE, deadline_seconds=3600)
"""A profile whose deadline no busy machine reaches."""

ALL_SHOWN = Voice(sure=0)
"""How a community speaks that wants to see every prepared reply: for tests that are not about those held back."""

EXPLAINED = json.dumps(
    {
        "harm": "It belittles newcomers",
        "group": "migrants",
        "aim": "To turn readers against newcomers",
        "power": "Locals over newcomers",
        "meaning": "It claims that newcomers give nothing",
        "feeling": "Hurt",
        "thought": "They may feel unwanted",
        "severity": 2,
        "advice": "reply",
    }
)
"""A model's answer to the prompt ``reading``."""


def post_of(text: str = POST) -> FlaggedPost:
    return FlaggedPost(PostRef("sample", "brenmoor", "square", "1"), text, "author", "member", "by hand")


def reading_of(
    language: str | None = "en",
    group: TargetGroup | None = TargetGroup.MIGRANTS,
    implied_meaning: str | None = None,
) -> Reading:
    return Reading(language, group, None, None, None, implied_meaning, None, None, 2, Action.REPLY, "a test")


def passage(text: str = HARBOUR, id_: str = "migrants-001", year: int | None = 2022) -> Evidence:
    return Evidence(id_, text, text, Source("Town hall", "Report", year, None, "https://example.org/report"))


def brief_of(*evidence: Evidence, text: str = POST, claim: str = CLAIM, language: str | None = "en") -> Brief:
    return Brief(post_of(text), reading_of(language), claim, evidence)


def metered(model: LanguageModel, profile: Profile = LIVE) -> MeteredModel:
    return MeteredModel(model, Budget(profile))
