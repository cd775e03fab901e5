"""What a person should look at in a first reply: automatic flags that rather find too much than too little.

A flag is not a verdict. Prepared sentences have to pass the gates here too, although the engine exempts them, so that
mistakes in the bank show.
"""

from __future__ import annotations

from collections.abc import Sequence

from core.models import Brief, Evidence
from core.scoring.checking import check_reply, read_drafts
from core.scoring.gates import GateContext
from core.scoring.grounding.grounding import NAME, unsupported
from core.scoring.readers.readers import Readers
from core.wording.targets.slurs import slurs_in

SLUR = "slur"
FIGURE = "figure without evidence"


def flags_of(text: str, brief: Brief, readers: Readers, max_characters: int = 2000) -> list[str]:
    """Why a person should look at a reply, in words; empty where nothing stood out. Blocking: call it in a thread."""
    flags = []
    read = read_drafts(readers.drafts, brief.post.text, [text], brief.language)[0]
    if read and read.fault:
        flags.append(f"reader: {read.fault}")
    fault = check_reply(text, GateContext(brief, max_characters)).fault
    if fault:
        flags.append(f"gate: {fault}")
    if slurs_in(text):
        flags.append(SLUR)
    if strange_figures(text, brief.evidence, brief.reading.language):
        flags.append(FIGURE)
    return flags


def strange_figures(text: str, evidence: Sequence[Evidence], language: str | None) -> set[str]:
    """The figures and dates, as written in the text, that no passage holds."""
    items = unsupported(text, evidence, language or "en")
    return {item.text for item in items if item.kind != NAME}
