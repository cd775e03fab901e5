"""Small real classes and values that stand in for the world."""

from __future__ import annotations

from core.models import (
    Action,
    Claim,
    Cost,
    Draft,
    Evidence,
    FlaggedPost,
    Intent,
    Reading,
    Receipt,
    Scores,
    Source,
    Suggestion,
    TargetGroup,
    Verdict,
)

DRAFT_TEXTS = ("Most newcomers work and pay taxes.", "Who told you that nobody pays in?")


def suggestion_for(post: FlaggedPost, texts: tuple[str, ...] = DRAFT_TEXTS) -> Suggestion:
    """A suggestion with every field filled, and one draft for each text, ranked from 1."""
    source = Source("OECD", "International Migration Outlook", 2021, None, "https://example.org/outlook")
    evidence = Evidence(
        "migrants-001", "A passage.", "Its summary.", source, {"bm25": 3.5, "dense": 0.25}, TargetGroup.MIGRANTS
    )
    receipt = Receipt("Most newcomers work.", evidence.id, Verdict.SUPPORTED, 0.9)
    scores = Scores(total=7.5, stance=0.9, non_toxicity=1.0, judge=None)
    return Suggestion(
        post=post,
        reading=Reading(
            "en", TargetGroup.MIGRANTS, "contempt", None, None, "they take", None, None, 2, Action.REPLY, "a claim"
        ),
        claims=(Claim("Newcomers pay taxes.", 0.6), Claim("Newcomers work.", None)),
        claim="Newcomers pay taxes.",
        queries=("migrants net fiscal contribution",),
        evidence=(evidence,),
        drafts=tuple(
            Draft(rank, text, Intent.INFORMATIVE, scores, (receipt,), ("a warning",))
            for rank, text in enumerate(texts, start=1)
        ),
        cost=Cost("quick", 2.5, 1.25, 9, 4, 1200, 300, 2, "target reached"),
        degraded=("The judge gave no answer.",),
    )
