"""Small real classes and values that stand in for the world."""

from core import models

DRAFT_TEXTS = ("Most newcomers work and pay taxes.", "Who told you that nobody pays in?")


def suggestion_for(post: models.FlaggedPost, texts: tuple[str, ...] = DRAFT_TEXTS) -> models.Suggestion:
    """A suggestion with every field filled, and one draft for each text, ranked from 1."""
    source = models.Source("OECD", "International Migration Outlook", 2021, None, "https://example.org/outlook")
    evidence = models.Evidence(
        "migrants-001", "A passage.", "Its summary.", source, {"bm25": 3.5, "dense": 0.25}, models.TargetGroup.MIGRANTS
    )
    receipt = models.Receipt("Most newcomers work.", evidence.id, models.Verdict.SUPPORTED, 0.9)
    scores = models.Scores(total=7.5, stance=0.9, non_toxicity=1.0, judge=None)
    return models.Suggestion(
        post=post,
        reading=models.Reading(
            "en",
            models.TargetGroup.MIGRANTS,
            "contempt",
            None,
            None,
            "they take",
            None,
            None,
            2,
            models.Action.REPLY,
            "a claim",
        ),
        claims=(models.Claim("Newcomers pay taxes.", 0.6), models.Claim("Newcomers work.", None)),
        claim="Newcomers pay taxes.",
        queries=("migrants net fiscal contribution",),
        evidence=(evidence,),
        drafts=tuple(
            models.Draft(rank, text, models.Intent.INFORMATIVE, scores, (receipt,), ("a warning",))
            for rank, text in enumerate(texts, start=1)
        ),
        cost=models.Cost("quick", 2.5, 1.25, 9, 4, 1200, 300, 2, "target reached"),
        degraded=("The judge gave no answer.",),
    )
