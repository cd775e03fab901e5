"""Prepared replies that speak of the people whom the post names, instead of the whole group that they belong to.

A reply to a post about Black people says "Black people" where it was written of people of colour. English alone:
elsewhere names carry gender and number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Final

from core.engine.cards.bank import ArgumentCard
from core.engine.wording.target_groups import Name, named
from core.models import Intent, TargetGroup

NAMED: Final = frozenset({"en"})
"""The languages in which names can take each other's place."""
_WHOLE: Final = {
    TargetGroup.PEOPLE_OF_COLOUR: "people of colour",
    TargetGroup.DISABILITIES: "disabled people",
    TargetGroup.LGBT: "LGBT people",
    TargetGroup.MIGRANTS: "migrants",
}
"""What a reply calls a group of which a post may name a part."""
_PARTS: Final = {"gay people": ("gay men", "lesbians")}
_LOVING: Final = frozenset({"gay people", "gay men", "lesbians", "bisexual people"})
"""Those of the LGBT group whom a reply about love means."""
_OF_THE_WHOLE: Final = {
    TargetGroup.PEOPLE_OF_COLOUR: re.compile(r"\b(skin|slave\w*|dark|black|white|colour bar)\b", re.IGNORECASE),
    TargetGroup.DISABILITIES: re.compile(
        r"\b(ramps?|lifts?|wheelchairs?|stairs|steps|bays?|badges?|braille|captions?|signs?|carers?)\b", re.IGNORECASE
    ),
    TargetGroup.LGBT: re.compile(r"\b(lov\w+|couples?|marr\w+|wedding\w*|partners?|kiss\w*|same-sex)\b", re.IGNORECASE),
    TargetGroup.MIGRANTS: re.compile(
        r"\b(papers|visas?|asylum|refuge\w*|boats?|shelters?|war|fle[ed]\w*|borders?|newcomers?)\b", re.IGNORECASE
    ),
}
"""What may be true of a whole group and not of every part of it; a text that holds it keeps its words."""


def with_names(cards: Sequence[ArgumentCard], text: str, group: TargetGroup) -> list[ArgumentCard]:
    """The cards with replies that call people as the post does; as they are where it names no one part of the group.

    Args:
        text: the post.
        group: whom it attacks.
    """
    names = [name for name in named(text) if group in name.groups]
    if len(names) != 1:
        return list(cards)
    (name,) = names
    places = [whole for whole in _replaceable(name, group) if whole != name.plural]
    return [_with_name(card, places, name, group) for card in cards] if places else list(cards)


def _replaceable(name: Name, group: TargetGroup) -> list[str]:
    """The names for which this one may stand: the whole group's, and of what it is a part."""
    own = [whole for whole, parts in _PARTS.items() if name.plural in parts]
    joined = [noun for noun in ("women", "Muslims", "Jews") if _is_part(name.plural, noun)]
    return [*own, *joined, *filter(None, [_WHOLE.get(group)])]


def _is_part(plural: str, whole: str) -> bool:
    """Whether a name is a narrower one, of two words: "Muslim women" of both women and Muslims."""
    return " " in plural and (plural.endswith(f" {whole}") or plural.startswith(f"{whole.removesuffix('s')} "))


def _with_name(card: ArgumentCard, places: Sequence[str], name: Name, group: TargetGroup) -> ArgumentCard:
    originals = dict[str, str]()
    texts = partial(_all_with_name, places=places, name=name.plural, group=group, originals=originals)
    changed = replace(
        card,
        replies=texts(card.replies),
    )
    return replace(changed, originals=originals) if originals else card


def _all_with_name(
    replies: Mapping[Intent, tuple[str, ...]],
    *,
    places: Sequence[str],
    name: str,
    group: TargetGroup,
    originals: dict[str, str],
) -> dict[Intent, tuple[str, ...]]:
    def own(text: str) -> str:
        renamed = _with_name_in(text, places, name, group)
        if renamed != text:
            originals[renamed] = text
        return renamed

    return {intent: tuple(map(own, texts)) for intent, texts in replies.items()}


def _with_name_in(text: str, places: Sequence[str], name: str, group: TargetGroup) -> str:
    """The text with the name in the place of the first of those that it holds, but for one that is part of a name."""
    of_whole = None if name in _LOVING else _OF_THE_WHOLE.get(group)
    if of_whole and of_whole.search(re.sub("|".join(places), "", text)):
        return text
    for place in places:
        renamed = re.sub(
            rf"(^|[.!?] |[“\"])?(?<![\w'’-]){place}(?![\w'’-])", partial(_in_form, name), text, flags=re.IGNORECASE
        )
        if renamed != text and not any(_is_part(name_in_text.plural, place) for name_in_text in named(text)):
            return renamed
    return text


def _in_form(name: str, match: re.Match[str]) -> str:
    """The name as it stands in that place: with a capital where a sentence begins."""
    before = match.group(1)
    return name if before is None else f"{before}{name[:1].upper()}{name[1:]}"
