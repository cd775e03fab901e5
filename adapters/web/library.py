"""The pages of what replies are made of: argument cards, prepared replies, evidence, and what they cover.

A card is deleted in two steps. What a text may say, and who may add, review and remove, is decided by the services.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import quote

from aiohttp import web
from babel.numbers import format_decimal

from adapters.common.words.labels import group_in_words, intent_in_words, language_in_words
from adapters.common.words.markup import Reader
from adapters.web.door import status_of
from adapters.web.site import SECRET, SITE, ChosenCommunities, chosen_place, locale_of, page, reader_of, see_other
from adapters.web.views import source_view
from core.desk.communities.own_cards import PreparedReply
from core.desk.rules.case_cards import ReviewOfPrepared
from core.desk.rules.own_cards import CommunityCard, Signatory, WrongField, checked_card, checked_reply
from core.desk.rules.roles import OnCommunity, may_on_community
from core.engine.cards.answers import ANSWERED, answers
from core.engine.cards.bank import LANGUAGES, ArgumentCard, CardVerdict, Stereotype, load_cards, load_stereotypes
from core.engine.ports import EvidenceQuery
from core.engine.wording.text import clean
from core.errors import AntiphonError, BadInput
from core.i18n.catalogs import gettext, translated
from core.i18n.sentences import sentence
from core.models import Intent, TargetGroup

_PAGE: Final = 30
_PASSAGES: Final = 8
_MOST: Final = 2000
"""Characters of a field."""


@dataclass(frozen=True, slots=True)
class LibraryFilter:
    """What somebody wants to see: a language, a group, words that a text holds, and only the community's own."""

    language: str
    group: str
    words: str
    is_own: bool

    def fits(self, language: str, group: TargetGroup, texts: Iterable[str], *, is_own: bool) -> bool:
        said = self.words.casefold()
        return (
            self.language in ("", language)
            and self.group in ("", group.value)
            and (is_own or not self.is_own)
            and (not said or any(said in text.casefold() for text in texts))
        )


def _filter(request: web.Request) -> LibraryFilter:
    query = request.query
    language = query.get("language", locale_of(request))
    return LibraryFilter(
        language if language in LANGUAGES else "",
        query.get("group", "") if query.get("group", "") in set(TargetGroup) else "",
        query.get("words", "").strip()[:200],
        "own" in query,
    )


async def _at(request: web.Request) -> tuple[ChosenCommunities, bool]:
    """The community, and whether the visitor may change what it replies with."""
    at = await chosen_place(request, OnCommunity.CONFIGURE, OnCommunity.READ_STATISTICS)
    if at.place is None:
        raise web.HTTPNotFound
    roles = await request.app[SITE].governance.roles_of(at.place.platform, at.place.community, at.person)
    return at, may_on_community(roles, OnCommunity.CONFIGURE)


async def _may_write(request: web.Request) -> ChosenCommunities:
    """The community, which the visitor may configure."""
    at, _ = await _at(request)
    await request.app[SITE].governance.require(*_where(at), at.person, OnCommunity.CONFIGURE)
    return at


def _where(at: ChosenCommunities) -> tuple[str, str]:
    if at.place is None:
        raise web.HTTPNotFound
    return at.place.platform, at.place.community


async def _listed(
    request: web.Request,
    template: str,
    at: ChosenCommunities,
    wanted: LibraryFilter,
    rows: Sequence[Callable[[], Any]],
    **values: Any,
) -> web.Response:
    """A page of rows, of which only those that are shown are made, with what they can be narrowed by."""
    number = request.query.get("page", "1")
    pages = max(1, -(-len(rows) // _PAGE))
    at_page = int(number) if number.isascii() and number.isdigit() and len(number) < 7 else 1
    shown = min(max(at_page, 1), pages)
    locale = locale_of(request)
    return await page(
        request,
        template,
        at=at,
        wanted=wanted,
        rows=[row() for row in rows[(shown - 1) * _PAGE : shown * _PAGE]],
        total=len(rows),
        number=shown,
        pages=pages,
        languages=_languages(locale),
        groups=_groups(locale),
        **values,
    )


def _languages(locale: str) -> list[tuple[str, str]]:
    return [(code, language_in_words(code, locale)) for code in LANGUAGES]


def _groups(locale: str) -> list[tuple[str, str]]:
    return [(one.value, group_in_words(one, locale)) for one in TargetGroup]


def _intents(locale: str) -> list[tuple[str, str]]:
    return [(one.value, intent_in_words(one, locale)) for one in Intent]


# Cards


async def cards(request: web.Request) -> web.Response:
    """The cards from which drafts start: the community's own, then the project's."""
    at, may_change = await _at(request)
    wanted, reader = _filter(request), reader_of(request)
    own = await request.app[SITE].cards.listed(*_where(at), at.person)
    rows = [
        partial(_own_card, one, reader)
        for one in own
        if wanted.fits(one.card.language, one.card.answered.target_group, _texts(one.card.as_card().card), is_own=True)
    ]
    rows += [
        partial(_card, card, language, reader)
        for language in LANGUAGES
        for card in load_cards(language)
        if card.is_translated and wanted.fits(language, card.target_group, _texts(card), is_own=False)
    ]
    return await _listed(request, "cards.html", at, wanted, rows, may_change=may_change)


def _says(one: Stereotype, reader: Reader) -> str:
    """What posts say that put it forward."""
    if one.is_general:
        return gettext("something else about the group", reader.locale)
    return reader.told(one.told, 200)


def _texts(card: ArgumentCard) -> list[str]:
    about = card.stereotype
    return [card.claim, "" if about.is_general else about.told, card.fact or "", *(text for _, text in card.texts)]


def _card(card: ArgumentCard, language: str, reader: Reader) -> dict[str, Any]:
    locale = reader.locale
    return {
        "id": card.id,
        "language": language,
        "language_words": language_in_words(language, locale),
        "group": group_in_words(card.target_group, locale),
        "stereotype": _says(card.stereotype, reader),
        "argument": card.claim,
        "fact": card.fact or "",
        "no_fact": card.no_fact or "",
        "caution": reader.told(card.caution) if card.caution else "",
        "replies": [(intent_in_words(intent, locale), text) for intent, text in card.texts if intent is not None],
        "wordings": list(card.stereotype.wordings.get(language, ())) if card.stereotype.is_own else [],
        "is_own": False,
        "version": "",
        "proposed": "",
        "reviewed": "",
        "is_accepted": True,
    }


def _own_card(one: CommunityCard, reader: Reader) -> dict[str, Any]:
    return _card(one.card.as_card().card, one.card.language, reader) | {
        "is_own": True,
        "version": one.card.digest,
        "proposed": _signed(one.proposer, reader) or gettext("somebody who was erased", reader.locale),
        "reviewed": _verdict(one, reader),
        "is_accepted": one.is_accepted,
    }


def _signed(signed: Signatory | ReviewOfPrepared | None, reader: Reader) -> str:
    return "" if signed is None else f"{reader.markup.inert(signed.name, 80)}, {reader.markup.date(signed.at)}"


def _verdict(one: CommunityCard, reader: Reader) -> str:
    who = _signed(one.reviewer, reader)
    if not who:
        return gettext("reviewed by nobody yet", reader.locale)
    if one.verdict is CardVerdict.ACCEPTED:
        return gettext("accepted by {who}", reader.locale, who=who)
    return gettext("declined by {who}", reader.locale, who=who)


async def new_card(request: web.Request) -> web.Response:
    """A form for a card of the community's own; with the words of one that is to be changed."""
    at = await _may_write(request)
    named, filled = request.query.get("card", ""), dict[str, str]()
    if named:
        own = await request.app[SITE].cards.listed(*_where(at), at.person)
        found = next((one.card for one in own if one.card.id == named), None)
        if found is None:
            raise web.HTTPNotFound
        filled = _as_fields(found.document)
    return await _form(request, "card", at, filled)


async def _form(
    request: web.Request,
    kind: str,
    at: ChosenCommunities,
    filled: Mapping[str, str],
    *,
    status: int = 200,
    problem: str = "",
) -> web.Response:
    """The form of a ``card``, or of a ``reply``, which answers no general stereotype."""
    locale, reader = locale_of(request), reader_of(request)
    known = [one for one in load_stereotypes().values() if kind == "card" or not one.is_general]
    return await page(
        request,
        f"{kind}_form.html",
        status=status,
        at=at,
        filled=filled,
        problem=problem,
        languages=_languages(locale),
        groups=_groups(locale),
        intents=_intents(locale),
        labels=_labels(locale),
        stereotypes=[(one.id, _about(one, reader)) for one in known],
    )


def _labels(locale: str) -> dict[str, str]:
    """What the form of a card calls each field; ``replies`` are those of all kinds together."""
    return {
        "id": gettext("A name for the card: small letters, figures and hyphens", locale),
        "language": gettext("Language", locale),
        "argument": gettext("The argument, in one sentence", locale),
        "stereotype": gettext("Against posts that say this", locale),
        "group": gettext("Whom the post attacks", locale),
        "gist": gettext("What the posts say, as the end of: It says that …", locale),
        "wordings": gettext("Three posts or more that say it, one on each line, without names", locale),
        "fact": gettext("The id of a fact that supports it, as the page Evidence shows it", locale),
        "no_fact": gettext("If you name no fact, why", locale),
        "caution": gettext("What a moderator should know before they use it", locale),
        "replies": gettext("Replies, one on each line; one at least in all", locale),
    }


def _about(one: Stereotype, reader: Reader) -> str:
    return f"{group_in_words(one.target_group, reader.locale)}: {_says(one, reader)}"


def _as_fields(document: Mapping[str, Any]) -> dict[str, str]:
    own = document.get("own_stereotype") or {}
    filled = {name: str(document.get(name) or "") for name in ("id", "language", "stereotype", "argument", "fact")}
    filled |= {"no_fact": str(document.get("no_fact") or ""), "caution": str(document.get("caution") or "")}
    filled |= {"group": str(own.get("group") or ""), "gist": str(own.get("gist") or "")}
    filled["wordings"] = "\n".join(own.get("wordings") or ())
    return filled | {f"reply-{intent}": "\n".join(texts) for intent, texts in document["replies"].items()}


def _as_row(said: Mapping[str, str]) -> dict[str, Any]:
    """A card as it is written in a file, from the fields of the form; what is empty is left out."""
    row: dict[str, Any] = {name: said[name] for name in ("id", "language", "argument", "caution") if said.get(name)}
    if said.get("stereotype"):
        row["stereotype"] = said["stereotype"]
    else:
        lines = _lines(said.get("wordings", ""))
        row["own_stereotype"] = {"group": said.get("group", ""), "gist": said.get("gist", ""), "wordings": lines}
    if said.get("fact"):
        row["fact"] = said["fact"]
    else:
        row["no_fact"] = said.get("no_fact") or "needs none"
    replies = {one.value: _lines(said.get(f"reply-{one.value}", "")) for one in Intent}
    row["replies"] = {intent: texts for intent, texts in replies.items() if texts}
    return row


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


async def _said(request: web.Request) -> tuple[ChosenCommunities, dict[str, str]]:
    """The community that a form names, and its fields."""
    sent = await request.post()
    said = {name: str(value).replace("\r\n", "\n").strip() for name, value in sent.items()}
    if any(len(value) > _MOST * 5 for value in said.values()):
        raise BadInput(sentence("This is more than Antiphon takes at once."), remedy=sentence("Shorten the text."))
    return await chosen_place(request, OnCommunity.CONFIGURE, said=said.get("place", "")), said


async def propose_card(request: web.Request) -> web.Response:
    """Keep a card that somebody wrote; what is wrong with it stands above the form, with all that they wrote."""
    at, said = await _said(request)
    try:
        card = checked_card(_as_row(said), request.app[SITE].facts())
        is_changed = await request.app[SITE].cards.propose(*_where(at), card, at.person)
    except AntiphonError as err:
        return await _form(request, "card", at, said, status=status_of(err), problem=_in_words(err, request))
    done = gettext("Proposed. Drafts start from it once another manager accepts it.", locale_of(request))
    await _tell(request, done if is_changed else gettext("The card is as it was.", locale_of(request)))
    raise see_other(f"/library/cards?place={quote(at.value)}&own=1&language={said.get('language', '')}")


def _in_words(err: AntiphonError, request: web.Request) -> str:
    locale = locale_of(request)
    if isinstance(err, WrongField):
        return f"{_wrong_field(err, locale)} {translated(err.remedy, locale)}".strip()
    return translated(err.said, locale)


def _wrong_field(err: WrongField, locale: str) -> str:
    """The field as the form calls it; one reply among several is named by its kind."""
    labels = _labels(locale) | dict(_intents(locale))
    label = next((labels[part] for part in reversed(err.field) if part in labels), None)
    if label is None:
        return translated(err.message, locale)
    return gettext("The field “{field}” cannot stay as it is.", locale, field=label)


async def _tell(request: web.Request, done: str) -> None:
    await request.app[SITE].doorkeeper.say_next(request[SECRET], done)


async def review_card(request: web.Request) -> web.Response:
    """Accept or decline the version of a card that was on the page."""
    at, said = await _said(request)
    verdicts = {"accept": CardVerdict.ACCEPTED, "decline": CardVerdict.DECLINED}
    if said.get("verdict") not in verdicts or not said.get("version"):
        raise BadInput(sentence("Nothing was chosen."), remedy=sentence("Choose one of the list."))
    verdict = verdicts[said["verdict"]]
    await request.app[SITE].cards.review(*_where(at), said.get("id", ""), verdict, at.person, said["version"])
    is_accepted = verdict is CardVerdict.ACCEPTED
    locale = locale_of(request)
    await _tell(request, gettext("Accepted.", locale) if is_accepted else gettext("Declined.", locale))
    raise see_other(f"/library/cards?place={quote(at.value)}&own=1&language=")


# Prepared replies


async def replies(request: web.Request) -> web.Response:
    """The replies that were written in advance: the community's own, then the project's."""
    at, may_change = await _at(request)
    wanted, reader = _filter(request), reader_of(request)
    found = await request.app[SITE].replies.listed(*_where(at), at.person)
    rows = [
        partial(_reply, one, reader)
        for one in found
        if wanted.fits(one.language, one.target_group, (one.text, one.stereotype or ""), is_own=one.is_own)
    ]
    intents = _intents(reader.locale)
    return await _listed(request, "replies.html", at, wanted, rows, may_change=may_change, intents=intents)


def _reply(one: PreparedReply, reader: Reader) -> dict[str, Any]:
    locale, known = reader.locale, load_stereotypes().get(one.stereotype or "")
    return {
        "id": one.id,
        "language": one.language,
        "text": one.text,
        "group": group_in_words(one.target_group, locale),
        "stereotype": "" if known is None or known.is_general else _says(known, reader),
        "intent": gettext("argument", locale) if one.intent is None else intent_in_words(one.intent, locale),
        "is_own": one.is_own,
        "is_hidden": one.is_hidden,
        "reviewed": _signed(one.review, reader),
    }


async def new_reply(request: web.Request) -> web.Response:
    """A form for a reply of the community's own."""
    at = await _may_write(request)
    return await _form(request, "reply", at, {})


async def add_reply(request: web.Request) -> web.Response:
    """Keep a reply that somebody wrote; what is wrong with it stands above the form, with the words."""
    at, said = await _said(request)
    if said.get("group") not in set(TargetGroup) or said.get("intent") not in set(Intent):
        raise BadInput(sentence("Nothing was chosen."), remedy=sentence("Choose one of the list."))
    group, intent = TargetGroup(said["group"]), Intent(said["intent"])
    try:
        reply = checked_reply(
            said.get("text", ""), said.get("language", ""), group, intent, said.get("stereotype") or None
        )
        await request.app[SITE].replies.add(*_where(at), reply, at.person)
    except AntiphonError as err:
        return await _form(request, "reply", at, said, status=status_of(err), problem=_in_words(err, request))
    await _tell(
        request, gettext("Added. Drafts start from it from now on; nobody has reviewed it.", locale_of(request))
    )
    raise see_other(f"/library/replies?place={quote(at.value)}&own=1&language={reply.language}")


async def act_on_reply(request: web.Request) -> web.Response:
    """Stand for a reply, take one of the project's out, or take it in again."""
    at, said = await _said(request)
    own, id_, locale = request.app[SITE].replies, said.get("id", ""), locale_of(request)
    if said.get("act") == "review":
        await own.review(*_where(at), id_, at.person)
        done = gettext("Kept that you read it and stand for it.", locale)
    elif said.get("act") in ("hide", "show"):
        await _of_project(request, at, id_)
        await own.remove(*_where(at), id_, at.person, is_undone=said["act"] == "show")
        done = gettext("Drafts may start from it again.", locale)
        if said["act"] == "hide":
            done = gettext("No new draft starts from it.", locale)
    else:
        raise BadInput(sentence("Nothing was chosen."), remedy=sentence("Choose one of the list."))
    await _tell(request, done)
    raise see_other(f"/library/replies?place={quote(at.value)}&language={id_.partition('-')[0]}")


async def _of_project(request: web.Request, at: ChosenCommunities, id_: str) -> None:
    """Refuse a reply of the community's own: to take it out would delete it, which takes two steps."""
    found = await request.app[SITE].replies.listed(*_where(at), at.person)
    if any(one.id == id_ and one.is_own for one in found):
        raise BadInput(sentence("This reply is the community's own."), remedy=sentence("Delete it, in two steps."))


# Deleting


async def ask_to_delete(request: web.Request) -> web.Response:
    """Show what would be deleted; the first of two steps."""
    at = await _may_write(request)
    what, id_ = request.query.get("what", ""), request.query.get("id", "")
    text = await _text_of(request, at, what, id_)
    return await page(request, "delete.html", at=at, what=what, id=id_, text=text)


async def _text_of(request: web.Request, at: ChosenCommunities, what: str, id_: str) -> str:
    site = request.app[SITE]
    if what == "card":
        own = await site.cards.listed(*_where(at), at.person)
        found = [one.card.argument for one in own if one.card.id == id_]
    else:
        known = await site.replies.listed(*_where(at), at.person)
        found = [one.text for one in known if one.id == id_ and one.is_own]
    if not found:
        raise web.HTTPNotFound
    return found[0]


async def delete(request: web.Request) -> web.Response:
    """Delete a card or a reply of the community's own, of which the text was shown."""
    at, said = await _said(request)
    what, id_ = said.get("what", ""), said.get("id", "")
    if said.get("text", "") != " ".join((await _text_of(request, at, what, id_)).split()):
        raise BadInput(
            sentence("It was changed meanwhile, so nothing was deleted."), remedy=sentence("Look at it again.")
        )
    own = request.app[SITE].cards if what == "card" else request.app[SITE].replies
    await own.remove(*_where(at), id_, at.person, said.get("note", ""))
    await _tell(request, gettext("Deleted. No new draft starts from it.", locale_of(request)))
    raise see_other(f"/library/{'cards' if what == 'card' else 'replies'}?place={quote(at.value)}&own=1&language=")


# Evidence


async def evidence(request: web.Request) -> web.Response:
    """Passages of the knowledge base that bear on some words, each with its source."""
    site, reader = request.app[SITE], reader_of(request)
    at, _ = await _at(request)
    await site.governance.require(*_where(at), at.person, OnCommunity.READ_STATISTICS)
    words, _ = clean(request.query.get("words", "")[:_MOST])
    group = request.query.get("group", "")
    passages, notes = list[dict[str, Any]](), list[str]()
    if words and site.knowledge is not None:
        about = TargetGroup(group) if group in set(TargetGroup) else None
        found = await site.knowledge.search(EvidenceQuery((words,), words, about, _PASSAGES))
        notes = [reader.told(note) for note in found.notes]
        passages = [
            {
                "id": one.id,
                "text": reader.markup.inert(one.text, 4000),
                "caution": reader.told(one.caution) if one.caution else "",
                "source": source_view(one.source, reader),
            }
            for one in found.passages
        ]
    return await page(
        request,
        "evidence.html",
        at=at,
        words=words,
        group=group,
        groups=_groups(reader.locale),
        passages=passages,
        notes=notes,
        has_knowledge=site.knowledge is not None,
    )


# Coverage


async def coverage(request: web.Request) -> web.Response:
    """How many cards and replies there are against each stereotype, by language."""
    at, _ = await _at(request)
    reader, site = reader_of(request), request.app[SITE]
    own = await site.cards.listed(*_where(at), at.person)
    found = await site.replies.listed(*_where(at), at.person)
    used = Counter((one.stereotype, one.language) for one in found if not one.is_hidden and one.intent is not None)
    known = [*load_stereotypes().values(), *(one.card.answered for one in own if one.card.own_stereotype)]
    groups = []
    for group in TargetGroup:
        ours = list({one.id: one for one in known if one.target_group is group}.values())
        if ours:
            rows = [_covered(one, used, own, reader) for one in ours]
            groups.append({"name": group_in_words(group, reader.locale), "rows": rows, "totals": _totals(rows)})
    languages, in_bank = _languages(reader.locale), format_decimal(len(answers()), locale=reader.locale)
    return await page(request, "coverage.html", at=at, groups=groups, languages=languages, in_bank=in_bank)


def _covered(
    one: Stereotype, used: Counter[tuple[str | None, str]], own: Sequence[CommunityCard], reader: Reader
) -> dict[str, Any]:
    mine = [each for each in own if each.card.answered.id == one.id and each.is_accepted]
    cells = []
    for language in LANGUAGES:
        theirs = [each for each in mine if each.card.language == language]
        cards_there = [card for card in load_cards(language) if card.stereotype.id == one.id and card.is_translated]
        replies_there = used[one.id, language]
        replies_there += sum(intent is not None for each in theirs for intent, _ in each.card.as_card().card.texts)
        cells.append((len(cards_there) + len(theirs), replies_there or (None if language in ANSWERED else 0)))
    return {"name": _says(one, reader), "cells": cells, "own": len(mine)}


def _totals(rows: Sequence[Mapping[str, Any]]) -> list[tuple[int, int | None]]:
    columns = [[row["cells"][at] for row in rows] for at in range(len(LANGUAGES))]
    return [
        (sum(cards for cards, _ in column), sum(replies or 0 for _, replies in column) or column[0][1])
        for column in columns
    ]
