"""What a community may say in its own words: prepared replies, and the notice on its rules.

One moderator can approve a prepared reply, and it gets no receipt, so it must pass the same rules as the project's own;
the texts of a community's cards pass the same (``core.desk.rules.own_cards``). A notice may name a rule by its number,
since it argues nothing. Each refusal has a remedy. Only spaces are changed.
"""

from __future__ import annotations

from core.desk.rules.input_checks import check_text
from core.engine.cards.bank import OwnReply, load_stereotypes
from core.engine.reading.signals import people_named
from core.engine.scoring.gates import MAX_SENTENCES, form_fault, intent_fault
from core.engine.wording.final_text import check_sendable
from core.engine.wording.giveaways import checkable_in
from core.engine.wording.language import NAMES, detect, name_of
from core.engine.wording.slurs import slurs_in
from core.engine.wording.text import sentences
from core.errors import BadInput
from core.i18n.sentences import sentence
from core.models import Intent, TargetGroup

MAX_CHARACTERS = 280
"""A length that every platform takes, with room for the sentence that discloses Antiphon."""
_REMEDIES = {
    "empty": sentence("Write one or two sentences."),
    "too many sentences": sentence("Say it in one or two sentences."),
    "too long for the platform": sentence("Say it in {most} characters.", most=MAX_CHARACTERS),
    "cut off": sentence("End it with a full stop, a question mark or an exclamation mark."),
    "link or mention": sentence("Leave links, @ and # out."),
    "hidden characters": sentence("Type the text again."),
    "slur or insult": sentence("Leave the word out: no draft may hold it."),
    "asks nothing": sentence("Ask a question, or choose another intent."),
}


def checked_reply(
    text: str, language: str, target_group: TargetGroup, intent: Intent, stereotype: str | None = None
) -> OwnReply:
    """The reply as it is stored, with single spaces.

    Args:
        stereotype: its id; ``None`` for any post about the group.

    Raises:
        BadInput: it may not be added; the error says why and what to do.
    """
    _check_place(language, target_group, stereotype)
    return OwnReply(language, target_group, intent, checked_text(text, language, intent), stereotype)


def checked_text(
    text: str, language: str, intent: Intent | None = None, *, what: str = "reply", is_sourced: bool = False
) -> str:
    """A prepared text as it is stored, with single spaces.

    Args:
        intent: ``None`` for a text that serves none, such as an argument.
        what: what the errors call it.
        is_sourced: whether a fact is named that carries it, so that it may state something.

    Raises:
        BadInput: it may not be added; the error says why and what to do.
    """
    check_text(text)
    reply = " ".join(text.split())
    check_sendable(reply)
    fault = form_fault(reply, language, MAX_CHARACTERS) or _prepared_fault(reply, language)
    fault = fault or (intent_fault(reply, intent) if intent else None)
    if fault:
        raise BadInput(f"The {what} cannot be added: {fault}.", remedy=_REMEDIES[fault])
    if detect(reply, language) not in {language, None}:
        raise BadInput(f"The {what} does not read as {name_of(language)}.", remedy="Name the language that it is in.")
    names = people_named(reply, language)
    if names:
        raise BadInput(
            f"The {what} names a person: {names[0]}.", remedy="Leave the name out: it will answer many posts."
        )
    facts = () if is_sourced else checkable_in(reply, language)
    if facts:
        raise BadInput(
            f"The {what} states something that needs a source: {', '.join(facts)}.",
            remedy="Leave that out; facts come from the evidence, with their source. A card may name one.",
        )
    return reply


def checked_notice(text: str, language: str) -> str:
    """The notice on the rules as it is stored, with single spaces.

    Raises:
        BadInput: it may not be set; the error says why and what to do.
    """
    check_text(text)
    notice = " ".join(text.split())
    check_sendable(notice)
    fault = form_fault(notice, language, MAX_CHARACTERS) or _prepared_fault(notice, language)
    if fault:
        raise BadInput(sentence("The notice cannot be set: {fault}.", fault=fault), remedy=_REMEDIES[fault])
    if detect(notice, language) not in {language, None}:
        raise BadInput(
            sentence("The notice does not read as {language}.", language=name_of(language)),
            remedy=sentence("Write it in that language, or name the one that it is in."),
        )
    return notice


def _prepared_fault(text: str, language: str) -> str | None:
    """What a chat forgives and a prepared reply may not do, in words, or ``None``."""
    if len(sentences(text)) > MAX_SENTENCES:
        return sentence("too many sentences")
    if not text.rstrip("\"'”’)").endswith((".", "!", "?", "…")):
        return sentence("cut off")
    return sentence("slur or insult") if slurs_in(text, language) else None


def check_language(language: str) -> None:
    """Refuse a language that Antiphon does not write."""
    if language not in NAMES:
        raise BadInput(f"Antiphon does not write {language!r}.", remedy=f"Use one of {', '.join(NAMES)}.")


def _check_place(language: str, target_group: TargetGroup, stereotype: str | None) -> None:
    check_language(language)
    if stereotype is None:
        return
    ids = [row.id for row in load_stereotypes().values() if row.target_group is target_group]
    if stereotype not in ids:
        raise BadInput(
            f"There is no stereotype {stereotype} about {target_group}.",
            remedy=f"Use one of {', '.join(ids)}, or none.",
        )
