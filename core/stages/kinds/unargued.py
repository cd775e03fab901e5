"""A draft that argues nothing, as a moderator is shown it.

Owns what such drafts have in common: no scores, no receipts, and why.
"""

from __future__ import annotations

from dataclasses import fields

from core.i18n.sentences import sentence
from core.models import Draft, Intent, Kind, Origin, ReadBy, Scores
from core.wording.text import sentences

_AS_IF = {Kind.SUPPORT: Intent.EMPATHETIC, Kind.NOTICE: Intent.DENOUNCING}
"""The intent of a reply that does what this kind does: every stored draft has one."""


def unargued(kind: Kind, text: str, language: str, reasons: tuple[str, ...], writer: str | None = None) -> Draft:
    """A draft of this kind, not ranked yet.

    Args:
        reasons: why it is shown, in sentences.
        writer: the model that wrote it; ``None`` where a person did.
    """
    why = sentence("it argues nothing, so nothing is scored")
    origin = Origin.PREPARED if writer is None else Origin.MODEL
    return Draft(
        rank=1,
        text=text,
        intent=_AS_IF[kind],
        scores=Scores(),
        origins=(origin,) * len(sentences(text)),
        read_by=ReadBy.RULES,
        language=language,
        writer=writer,
        reasons=reasons,
        unscored={score.name: why for score in fields(Scores) if score.name != "parts"},
        kind=kind,
    )
