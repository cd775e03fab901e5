"""The flow of each button: decisions, and private answers with what does not fit on the card; ``PRESSED`` lists them.

Each decision is one call of ``Casework`` with the version that the person saw. An approval takes two deliberate
actions, and can be undone while there is time. The answers show the case as it is now.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from adapters.common.cards import controls
from adapters.common.cards.controls import OWN_TEXT, Act, Control, Emphasis, Target
from adapters.common.cards.drafts import DRAFT, in_full, is_key, scores_line, source_link, text_named
from adapters.common.cards.states import headline, places, state_in_words
from adapters.common.decisions.press import NOTE, TEXT, Flow, Press, Screen, TextFile, choice, edit_dialog, note_dialog
from adapters.common.words.excerpts import Segment, fit
from adapters.common.words.labels import intent_in_words, reason_in_words, retract_reason_in_words
from adapters.common.words.markup import Reader, hidden_in
from adapters.common.words.messages import part_label
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Approval, Card, InPublic, ProposedReply, read_by_in_words
from core.desk.rules.closures import CloseReason, RetractReason, close_reasons, why_closed
from core.desk.rules.roles import Person
from core.errors import AntiphonError, BadInput, Conflict, Unsendable
from core.i18n.catalogs import gettext, translated
from core.i18n.sentences import listed, sentence
from core.models import Draft, Intent, Part, PartKind

_SENTENCE: Final = 300
READ_SECONDS: Final = 1.5
"""How long the desk may take before a dialog opens. The strictest platform waits three seconds for the
dialog and for its language together (``desk.HURRY_SECONDS``)."""
_REASON: Final = 200
_CONFIRMED: Final = 100
"""How much room is left free beside a proposal."""
_NOTE = 500
_ANY = "any"
_AUTHOR, _REMARK = 40, 240


def proposal_screen(proposal: ProposedReply, reader: Reader, room: int) -> Screen:
    """The message that asks for the second deliberate action; its texts take at most ``room`` units."""
    public = proposal.shown
    block = reader.markup.exact(public.text)
    lines = [Segment("lines", 1 + number, forms) for number, forms in enumerate(_lines(proposal, reader))]
    intro = Segment("intro", 0, (_intro(proposal, public, reader, is_block=block is not None),))
    texts = fit([intro, *lines], room - reader.markup.units(block or ""), reader.markup.units)
    exact = TextFile("reply.txt", public.text) if block is None else block
    below = [texts["lines"]] if "lines" in texts else []
    confirm = _confirm(proposal, reader.locale)
    return Screen((texts["intro"], exact, *below), (confirm,), proposal.case_id, proposal.version, proposal=proposal)


def _intro(proposal: ProposedReply, public: InPublic, reader: Reader, *, is_block: bool) -> str:
    locale = reader.locale
    lines = [gettext("**Exactly this would be posted:**", locale)]
    if proposal.is_shadow:
        lines = [gettext("**Shadow mode: nothing will be posted. Exactly this would be:**", locale)]
    if not is_block:
        where = reader.markup.platform
        lines.append(
            gettext(
                "{platform} cannot show this text as it is. It is in the file; read it there.", locale, platform=where
            )
        )
    about = [reader.told(line, _SENTENCE) for line in (public.audience, *public.about) if line]
    if public.content_warning:
        behind = gettext("It stands behind the content warning “{warning}”.", locale, warning=public.content_warning)
        about.insert(0, behind)
    if proposal.quote:
        quote = reader.markup.inert(proposal.quote)
        about.append(gettext("Above it stands a quote of the post: “{quote}”.", locale, quote=quote))
    return "\n".join([reader.markup.ours("\n".join(lines)), *about])


def _lines(proposal: ProposedReply, reader: Reader) -> Iterator[tuple[str, ...]]:
    locale = reader.locale
    if hidden := hidden_in(proposal.text):
        names = reader.told(listed(hidden), _SENTENCE)
        yield (gettext("It holds characters that nobody sees: {names}.", locale, names=names),)
    if proposal.waits_because:
        yield _waits(proposal, reader)
    if proposal.why_two:
        rule = gettext("Two persons must approve this reply; you are the first.", locale)
        if proposal.is_second:
            rule = gettext("Two persons must approve this reply; you are the second.", locale)
        yield f"{rule} {' '.join(reader.told(reason, _SENTENCE) for reason in proposal.why_two[:5])}", rule
    label = gettext("Check:", locale)
    others = [warning for warning in proposal.warnings if warning not in proposal.why_two]
    yield from ((f"{label} {reader.told(warning, _SENTENCE)}", "") for warning in others)


def _waits(proposal: ProposedReply, reader: Reader) -> tuple[str, ...]:
    """That the reply would not be sent at once, why, and when it would be."""
    locale, why = reader.locale, reader.told(proposal.waits_because, _SENTENCE)
    if proposal.waits_until is None:
        wait = gettext("It would not be sent at once.", locale)
    else:
        when = reader.markup.from_now(proposal.waits_until)
        wait = gettext("It would not be sent at once, but {when} at the earliest.", locale, when=when)
    return f"{wait} {why}", wait


def _confirm(proposal: ProposedReply, locale: str) -> Control:
    label = gettext("Yes, post this reply", locale)
    if proposal.is_shadow:
        label = gettext("Yes, approve without posting", locale)
    if proposal.why_two and not proposal.is_second:
        label = gettext("Yes, and ask a second person", locale)
    return Control(Act.CONFIRM, label, Emphasis.FINAL, proposal.id)


async def approve(press: Press) -> None:
    """Show what would be posted, and ask again."""
    await press.think()
    target = press.target
    if is_key(target.extra):
        text = await _first_text(press)
        proposal = await press.casework.propose(target.case_id, target.version, press.by, text=text)
    else:
        proposal = await press.casework.propose(target.case_id, target.version, press.by, rank=_rank(press))
    await _show(press, proposal)


async def _show(press: Press, proposal: ProposedReply) -> None:
    await press.answer(proposal_screen(proposal, press.reader, press.room - _CONFIRMED))


async def _first_text(press: Press) -> str:
    """The text that another person approved and that the button names."""
    card = await press.casework.card(press.target.case_id, press.by)
    require_current(card, press)
    text = text_named(card, press.target.extra)
    if text is None:
        raise Conflict(gettext("Nobody's approval of this text waits any more.", press.locale))
    return text


async def edit(press: Press) -> None:
    """Open a draft to be edited, or an empty reply."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            card = await press.casework.card(press.target.case_id, press.by)
    except TimeoutError:
        await press.say(gettext("The desk is slow just now. Press the button again.", press.locale))
        return
    require_current(card, press)
    rank = _rank(press)
    texts = {draft.rank: draft.text for draft in card.drafts}
    if rank is not None and rank not in texts:
        raise Conflict(gettext("This draft is not there any more.", press.locale))
    text = "" if rank is None else texts[rank]
    await press.ask(edit_dialog(press.target, text, press.locale))


async def propose_edited(press: Press) -> None:
    """Check what was written, show what would be posted, and ask again; a refused text is given back."""
    await press.think()
    target, text = press.target, press.fields.get(TEXT, "")
    try:
        proposal = await press.casework.propose(target.case_id, target.version, press.by, rank=_rank(press), text=text)
    except AntiphonError as err:
        await _give_back(press, text, err.text_id if isinstance(err, Unsendable) else "")
        raise
    await _show(press, proposal)


async def _give_back(press: Press, text: str, text_id: str) -> None:
    """Show a refused text again; where the desk kept it, it can be mended instead of typed anew."""
    if not text:
        return
    intro = gettext("This is what you wrote, so that nothing is lost:", press.locale)
    block = press.reader.markup.exact(text)
    mend = Control(Act.MEND, gettext("Mend this text…", press.locale), Emphasis.FIRST, text_id)
    target = press.target
    parts = (intro, TextFile("reply.txt", text)) if block is None else (f"{intro}\n{block}",)
    await press.answer(Screen(parts, (mend,) if text_id else (), target.case_id, target.version))


async def mend(press: Press) -> None:
    """Open a refused text to be edited."""
    try:
        async with asyncio.timeout(READ_SECONDS):
            kept = await press.casework.refused(press.target.extra, press.by)
    except TimeoutError:
        await press.say(gettext("The desk is slow just now. Press the button again.", press.locale))
        return
    rank = OWN_TEXT if kept.rank is None else str(kept.rank)
    await press.ask(edit_dialog(Target(Act.EDIT, kept.case_id, kept.version, rank), kept.text, press.locale))


async def confirm(press: Press) -> None:
    await press.defer()
    approval = await press.casework.approve(press.target.extra, press.by)
    await press.replace(_approval_screen(approval, press.reader))


def _approval_screen(approval: Approval, reader: Reader) -> Screen:
    card, locale = approval.card, reader.locale
    if approval.waits_for_second is not None:
        reasons = " ".join(reader.told(reason, 300) for reason in approval.why_two[:5])
        sentence = gettext(
            "Your approval is kept and counts until {until}. A second person must approve the same text.",
            locale,
            until=reader.markup.date(approval.waits_for_second),
        )
        return Screen((f"{sentence}\n{reasons}".strip(),))
    if card.state is not CaseState.APPROVED:
        return Screen((state_in_words(card, reader),))
    return Screen(("\n".join(_approval_sentences(card, reader)),), (), card.case_id, card.version)


def _approval_sentences(card: Card, reader: Reader) -> Iterator[str]:
    """Sentences about an approval that stay true: this answer is not changed any more, the card says what follows."""
    locale = reader.locale
    yield gettext(
        "You approved this reply. The card says what becomes of it, and has “Undo” as long as it can be taken back.",
        locale,
    )
    if card.is_shadow:
        yield gettext("In shadow mode nothing is sent.", locale)
    elif card.is_paused:
        yield gettext("Posting was paused when you approved it: it waits until posting is resumed.", locale)
    elif card.waits_because:
        why = reader.told(card.waits_because, _REASON)
        yield gettext("What held it back when you approved it: {reason}", locale, reason=why)


async def undo(press: Press) -> None:
    """Take an approval, or what closed the case, back."""
    await press.defer()
    card = await press.casework.undo(press.target.case_id, press.target.version, press.by)
    sentence = gettext("Taken back. Nothing is sent; the case is in review again.", press.locale)
    if card.state is not CaseState.IN_REVIEW:
        sentence = f"{gettext('Taken back.', press.locale)} {state_in_words(card, press.reader)}"
    await press.conclude(card, sentence)


def require_current(card: Card, press: Press) -> None:
    """Refuse a press on a card that is no longer current."""
    if card.version != press.target.version:
        raise Conflict(gettext("The case has changed since this card was shown.", press.locale))


def _rank(press: Press) -> int | None:
    extra = press.target.extra
    if not extra.isdigit():
        raise BadInput(gettext("This button names no draft.", press.locale))
    return None if extra == OWN_TEXT else int(extra)


async def not_hateful(press: Press) -> None:
    """Close the case because the post needs no reply: the commonest decision, in one tap."""
    await press.defer()
    await _close(press, CloseReason.NOT_HATEFUL)


async def ask_why(press: Press) -> None:
    """Ask why the case is closed; only for what closes a case as it is now."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    require_current(card, press)
    rows = [(reason.name, reason_in_words(reason, press.locale)) for reason in close_reasons(card.state)]
    await press.answer(choice(press, Act.CLOSE_AS, gettext("Why close this case?", press.locale), rows))


async def close(press: Press) -> None:
    """Close the case for one of the reasons; the last one asks for a note first."""
    reason = CloseReason[next(iter(press.values), press.target.extra).upper()]
    if reason is CloseReason.OTHER:
        await _ask_note(press)
        return
    await press.defer()
    await _close(press, reason)


async def close_with_note(press: Press) -> None:
    """Close the case for a reason that the person wrote."""
    await press.think()
    await _close(press, CloseReason.OTHER, press.fields.get(NOTE, ""))


async def _close(press: Press, reason: CloseReason, note: str = "") -> None:
    target, locale = press.target, press.locale
    card = await press.casework.close(target.case_id, target.version, press.by, reason, note)
    closed = gettext("Closed: {reason}.", locale, reason=translated(why_closed(reason), locale))
    brief = gettext("You can undo this for a few seconds.", locale)
    await press.conclude(card, f"{closed} {brief}", Control(Act.UNDO, gettext("Undo", locale), Emphasis.GRAVE))


async def ask_why_retract(press: Press) -> None:
    await press.think()
    rows = [(reason.name, retract_reason_in_words(reason, press.locale)) for reason in RetractReason]
    await press.answer(choice(press, Act.RETRACT_AS, gettext("Why take the reply back?", press.locale), rows))


async def retract(press: Press) -> None:
    """Take the posted reply away for one of the reasons; the last one asks for a note first."""
    reason = RetractReason[press.values[0]]
    if reason is RetractReason.OTHER:
        await _ask_note(press)
        return
    await press.defer()
    await _retract(press, reason)


async def retract_with_note(press: Press) -> None:
    """Take the posted reply away for a reason that the person wrote."""
    await press.think()
    await _retract(press, RetractReason.OTHER, press.fields.get(NOTE, ""))


async def _retract(press: Press, reason: RetractReason, note: str = "") -> None:
    target = press.target
    card = await press.casework.retract(target.case_id, target.version, press.by, reason, note)
    if card.state is CaseState.RETRACTED:
        await press.conclude(card, gettext("The reply is taken back.", press.locale))
    else:
        await press.say(press.reader.told(card.notes[-1], _NOTE))


async def _ask_note(press: Press) -> None:
    """Open the dialog that asks why; the answer comes back under the same act."""
    target = press.target
    await press.ask(note_dialog(Target(target.act, target.case_id, target.version), press.locale))


async def hold(press: Press) -> None:
    await press.defer()
    card = await press.casework.hold(press.target.case_id, press.by)
    if card.holder is None:
        await press.conclude(card, gettext("You hold this case now.", press.locale))
        return
    until = press.reader.markup.from_now(card.holder.until)
    await press.conclude(card, gettext("You hold this case now; your hold ends {until}.", press.locale, until=until))


async def release(press: Press) -> None:
    """Give up holding the case."""
    await press.defer()
    card = await press.casework.release(press.target.case_id, press.by)
    await press.conclude(card, gettext("You no longer hold this case.", press.locale))


async def ask_redraft(press: Press) -> None:
    await press.think()
    others = (_ANY, gettext("Others, of any kind", press.locale))
    intents = [(intent.value, intent_in_words(intent, press.locale)) for intent in Intent]
    question = gettext("Which drafts do you want instead?", press.locale)
    await press.answer(choice(press, Act.REDRAFT_AS, question, [others, *intents]))


async def redraft(press: Press) -> None:
    await press.defer()
    value = press.values[0] if press.values else _ANY
    intent = None if value == _ANY else Intent(value)
    target = press.target
    card = await press.casework.redraft(target.case_id, target.version, press.by, intent=intent)
    await press.conclude(
        card, gettext("Asked for other drafts. The card shows them when they are there.", press.locale)
    )


async def ask_claim(press: Press) -> None:
    """Ask which claim the drafts should argue instead."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    require_current(card, press)
    if not card.other_claims:
        raise BadInput(gettext("There is no other claim to argue.", press.locale))
    numbered = enumerate(card.other_claims, start=1)
    rows = [(str(number), f"{number}. {' '.join(claim.split())}") for number, claim in numbered]
    question = gettext("What should the drafts argue instead?", press.locale)
    await press.answer(choice(press, Act.CLAIM_AS, question, rows))


async def argue(press: Press) -> None:
    await press.defer()
    target = press.target
    card = await press.casework.card(target.case_id, press.by)
    require_current(card, press)
    number = int(press.values[0])
    if not 1 <= number <= len(card.other_claims):
        raise Conflict(gettext("This claim is not there any more.", press.locale))
    claim = card.other_claims[number - 1]
    card = await press.casework.redraft(target.case_id, target.version, press.by, claim=claim)
    await press.conclude(card, gettext("Asked for drafts that argue this claim.", press.locale))


async def reopen(press: Press) -> None:
    """Put the case in review again, or into the queue if it has no draft."""
    await _at_once(press, press.casework.reopen)


async def split(press: Press) -> None:
    """Draft a folded post on its own."""
    await _at_once(press, press.casework.split_out)


async def _at_once(press: Press, decide: Callable[[str, int, Person], Awaitable[Card]]) -> None:
    await press.defer()
    await _note(press, await decide(press.target.case_id, press.target.version, press.by))


def settle(*, is_posted: bool) -> Flow:
    """Record whether the reply is on the platform, after the person looked."""

    async def flow(press: Press) -> None:
        await press.defer()
        target = press.target
        await _note(press, await press.casework.settle(target.case_id, target.version, press.by, is_posted=is_posted))

    return flow


async def _note(press: Press, card: Card) -> None:
    await press.conclude(card, f"{gettext('Noted.', press.locale)} {state_in_words(card, press.reader)}")


async def menu(press: Press) -> None:
    """Everything else that can be done with the case as it is now, and what the card does not say of its drafts."""
    await press.think()
    card = await press.casework.card(press.target.case_id, press.by)
    lines = (headline(card, press.reader), places(card, press.reader), *_remarks(card, press.reader))
    text = "\n".join(line for line in lines if line)
    await press.answer(Screen((text,), tuple(controls.for_menu(card, press.locale)), card.case_id, card.version))


def _remarks(card: Card, reader: Reader) -> list[str]:
    """Who read the post, and what the drafts lack; without a draft that is on the card."""
    read_by = [] if card.read_by is None else [sentence("Read by: {who}.", who=read_by_in_words(card.read_by))]
    label = gettext("Note:", reader.locale)
    notes = [f"{label} {reader.told(note, _REMARK)}" for note in card.notes if card.drafts]
    return [*map(reader.told, read_by), *notes]


async def show_post(press: Press) -> None:
    """The whole post and what was said before it, covered."""
    card = await _read(press)
    title = gettext("The post, covered, after what was said before it:", press.locale)
    parts = card.post.words.parts or (Part(PartKind.OWN, card.post.text),)
    turns = [*thread_of(card, press.locale), *((part_label(part, press.locale), part.text) for part in parts)]
    await _show_turns(press, title, turns, "post.txt")


async def _show_turns(press: Press, title: str, turns: Sequence[tuple[str, str]], name: str) -> None:
    markup = press.reader.markup
    lines = [f"{markup.inert(author, _AUTHOR)}: {markup.covered(text)}" for author, text in turns]
    plain = "\n\n".join(f"{author}:\n{text}" for author, text in turns)
    await _show_whole(press, title, lines, TextFile(name, plain, is_covered=True))


def thread_of(card: Card, locale: str) -> list[tuple[str, str]]:
    """The authors and texts of the messages before the post."""
    return list(zip(_speakers(card, locale), (message.text for message in card.post.thread), strict=True))


def _speakers(card: Card, locale: str) -> list[str]:
    """Who wrote each message before the post: names that the community knows, numbers for the others."""
    others: dict[str, int] = {}
    names = []
    for message in card.post.thread:
        if message.author in card.names:
            names.append(card.names[message.author])
        elif message.author and message.author == card.post.author:
            names.append(gettext("the author of the post", locale))
        else:
            number = others.setdefault(message.author, len(others) + 1)
            names.append(gettext("another person ({number})", locale, number=number))
    return names


async def show_drafts(press: Press) -> None:
    """Drafts in full, each in an answer of its own, with its scores, its receipts, and what can be done with it.

    All of them, or those that the control names: one by its rank, or all but the one on the card.
    """
    card = await _read(press)
    named, drafts = press.target.extra, card.drafts[: controls.MAX_DRAFTS]
    if named == controls.OTHERS:
        drafts = drafts[1:]
    elif named:
        drafts = tuple(draft for draft in drafts if str(draft.rank) == named)
    if not drafts:
        raise Conflict(gettext("This draft is not there any more.", press.locale))
    for draft in drafts:
        await _show_draft(press, card, draft)


async def _show_draft(press: Press, card: Card, draft: Draft) -> None:
    """One draft with its controls; in a file where it is too long for a message."""
    reader, offered = press.reader, tuple(controls.for_draft(card, draft, press.locale))
    segments = in_full(card, draft, reader)
    text = fit(segments, press.room, reader.markup.units)[DRAFT]
    if reader.markup.units(text) <= press.room:
        await press.answer(Screen((text,), offered, card.case_id, card.version))
        return
    title = reader.markup.ours(f"**{gettext('Draft {rank}', press.locale, rank=draft.rank)}**")
    long = f"{title} {gettext('It is long, so it is in the file.', press.locale)}"
    file = TextFile(f"draft-{draft.rank}.txt", draft.text)
    await press.answer(Screen((long, file, scores_line(card, draft, reader)), offered, card.case_id, card.version))


async def show_evidence(press: Press) -> None:
    """Each passage in full, with its source."""
    card = await _read(press)
    markup = press.reader.markup
    title = gettext("The evidence:", press.locale)
    passages = [f"{source_link(passage.source, markup)}\n{markup.inert(passage.text)}" for passage in card.evidence]
    plain = "\n\n".join(
        f"{passage.source.publisher}, {passage.source.title}, {passage.source.year or '?'}\n"
        f"{passage.source.url or passage.source.document}\n"
        f"{passage.text}"
        for passage in card.evidence
    )
    await _show_whole(press, title, passages, TextFile("evidence.txt", plain))


async def _read(press: Press) -> Card:
    await press.think()
    return await press.casework.card(press.target.case_id, press.by)


async def _show_whole(press: Press, title: str, parts: Iterable[str], file: TextFile) -> None:
    """Show it in the message if it fits, otherwise in a file."""
    markup = press.reader.markup
    title = markup.ours(f"**{title}**")
    text = "\n\n".join([title, *parts])
    if markup.units(text) <= press.room:
        await press.answer(Screen((text,)))
        return
    await press.answer(Screen((f"{title} {gettext('It is long, so it is in the file.', press.locale)}", file)))


PRESSED: Final[Mapping[Act, Flow]] = {
    Act.HOLD: hold,
    Act.RELEASE: release,
    Act.APPROVE: approve,
    Act.CONFIRM: confirm,
    Act.UNDO: undo,
    Act.EDIT: edit,
    Act.MEND: mend,
    Act.REDRAFT: ask_redraft,
    Act.REDRAFT_AS: redraft,
    Act.OTHER_CLAIM: ask_claim,
    Act.CLAIM_AS: argue,
    Act.NOT_HATEFUL: not_hateful,
    Act.CLOSE: ask_why,
    Act.CLOSE_AS: close,
    Act.MORE: menu,
    Act.REOPEN: reopen,
    Act.IS_POSTED: settle(is_posted=True),
    Act.NOT_POSTED: settle(is_posted=False),
    Act.SPLIT: split,
    Act.RETRACT: ask_why_retract,
    Act.RETRACT_AS: retract,
    Act.SHOW_POST: show_post,
    Act.SHOW_DRAFTS: show_drafts,
    Act.SHOW_EVIDENCE: show_evidence,
}
SUBMITTED: Final[Mapping[Act, Flow]] = {
    Act.EDIT: propose_edited,
    Act.CLOSE_AS: close_with_note,
    Act.RETRACT_AS: retract_with_note,
}
