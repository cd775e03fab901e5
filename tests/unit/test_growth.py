"""No text that a stranger writes takes longer to read than it is long: for each compiled pattern, and each function.

Growth is asserted, never seconds: what a text costs beside its four quarters. One is linear, four the square.
"""

import ast
import gc
import importlib
import pkgutil
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from math import inf
from pathlib import Path
from time import sleep, thread_time
from types import ModuleType
from typing import Any, Final

import pytest

from adapters.common.capture.requests import wish_in
from adapters.common.capture.watch import is_about
from adapters.common.words.excerpts import shortened
from adapters.common.words.markup import hidden_in
from adapters.discord.capture import message_link
from adapters.discord.speech import DiscordMarkup
from adapters.mastodon.capture import inert
from adapters.mastodon.speech import plain_text, stray_sign, words_of
from adapters.telegram.speech import TelegramMarkup
from adapters.web.speech import PageMarkup
from bot.cli.command import harmless
from core.engine.llm.prompts import read_object, unframed, unmarked
from core.engine.reading.posts import parse_explanations
from core.engine.reading.signals import check_text, is_code, names_violence, people_named, signals_of_words
from core.engine.scoring.check import check_reply, context_for
from core.engine.scoring.factual import cues
from core.engine.scoring.quotation import quote_of
from core.engine.scoring.receipts import parse
from core.engine.wording import encoder_text
from core.engine.wording.accusations import raised_in, smears
from core.engine.wording.disguises import bare, spellings, starred, with_plain_letters, without_lookalikes
from core.engine.wording.figures import figures, weight_of
from core.engine.wording.final_text import check_sendable, hidden_characters, links_in
from core.engine.wording.giveaways import checkable_in, leak_in, speaks_as_tool
from core.engine.wording.injection import disarm, instructs, obeys
from core.engine.wording.keywords import has_keyword
from core.engine.wording.language import language_of_post, words_alone
from core.engine.wording.near_duplicates import likeness_of
from core.engine.wording.reading_level import hard_to_read
from core.engine.wording.slurs import homonyms_in, is_coded, senses_in, slurs_in, told_apart
from core.engine.wording.target_groups import groups_named, undisguised
from core.engine.wording.text import clean, content_stems, has_letters, numbers, sentences, words
from core.engine.wording.word_index import tokens
from core.engine.writing.first_drafts import bare_reply
from core.errors import AntiphonError
from core.i18n.catalogs import LANGUAGES
from core.models import MessageWords, Part, PartKind, TargetGroup
from kb.documents import Page
from kb.parsing.clean_text import clean_line, cleaned
from kb.parsing.paragraphs import spans
from kb.parsing.raw_text import Raw, lowered
from kb.ranking.fusion import first_sentences
from kb.sources.listing import groups_in

Read = Callable[[str], object]

SMALL: Final = (60, 250, 1_000, 4_000)
"""Characters of the texts of each piece; the longest only where the others grow faster than they should."""
LARGE: Final = 100_000
"""Characters of the texts of those pieces that took longest."""
MOST: Final = 2.0
"""How many times as long a text may take as four of a fourth of its length."""
SUSPECT: Final = 8.0
"""How many times as long as a fourth of it makes one measure a text with care."""
HINT: Final = 5.0
"""How many times as long makes one look at a longer text."""
SEEN: Final = 0.003
"""Seconds of the processor below which nothing is compared."""
TRIES: Final = 10
PAUSE: Final = 0.01
"""Seconds before the second try, twice as many before the third: what else a machine does slows tries in a row."""
AFFORDED: Final = 0.1
"""Seconds of the processor that a text may take whose fourfold is read as well."""
ENOUGH: Final = 0.012
"""Seconds of the processor that reading a large text should take: a shorter one does where reading takes long."""
WORST: Final = 1
"""So many of the pieces that took longest make the large texts."""
MOST_PIECES: Final = 30

PLAIN: Final = (
    *"aA1 \n\t.,-_*#@:<(['\"`=/!?é|~&\\{“【",
    *("a ", "1 ", "a-", "a.", "1.", " \n", "a\n", "\r\n", "Aa Bb ", "a\u0301", "\u0301", "a\u200b", "😀", "²"),
)
"""Single characters, blanks, near misses and combining marks."""
COMMON: Final = (
    *PLAIN,
    *("A.", "A-A-", "1,1 ", "1.1.", "1/1/", "1-1", "a1", "éa ", "a*b ", "a* ", "f4g ", "as 1 as 1 ", "1 of ", "in 1 "),
    *("half of ", "1 per cent ", "two ", "thousands ", "is not ", "the a ", "they are ", "kill all ", "men and women "),
    *("#idiot ", "idiot ", "Kike ", '"idiot" ', "Mr. Aa ", "A B ", "put a. ", "a. A", "\u202e", "аb ", "ꓐ", "ɐ ɔ "),
    *("\ufffd", "\ue000", "👩\u200d", "١", "ehun ", "uno de cada ", "[a](", "[a", "<a ", "<a>", "<p>a</p>", "</"),
    *("&#1", "&amp;", "<:a", ":a:", "@a ", "a@b.", "http://", "https://a.b/ ", "www.a.", "**", "_a_", "||", "a'"),
    *("“a", "«a» ", "a (", "x = 1;\n", '{"a":', "import a, ", "- a\n", "a-\nb", "abc abc ", "x" * 60 + " "),
    *("g y p s y ", "g*psy ", "Gypsy", "> a\n", "|a|b|\n"),
)
"""The same, with words, markup and nests, and what was once slow somewhere."""

OF_HTML: Final = (
    "<p>a</p>", "<a ", '<a "', "<a '\"", "<!", "<!--", "&#1", "&amp", "<p class=", "<p class class ", "<", "<b  ",
    "<p class=' class=\"", "'/p=<a&!=", '<&;<"', "p/<!<&", "<br>", "<li>", "<p class=quote-inline>", "</p>",
)  # fmt: skip
"""What a server that nobody trusts may write in a status."""

KEYWORDS: Final = ("gypsy", "go home", "moros")


def weighed(language: str, text: str) -> object:
    return [weight_of(each, text) for each in figures(text, language)]


def limited(read: Callable[[str, int], object]) -> Read:
    return lambda text: read(text, 900)


FUNCTIONS: Final[Mapping[str, Read]] = {
    "has_keyword": lambda text: has_keyword(text, KEYWORDS),
    "is_about": lambda text: is_about(text, tuple(TargetGroup)),
    "wish_in": wish_in,
    "shortened": lambda text: shortened(text, 900),
    "hidden_in": hidden_in,
    "message_link": message_link,
    "stray_sign": stray_sign,
    "plain_text": plain_text,
    "inert": inert,
    "words_of a status": lambda text: words_of(
        {
            "content": f"<p>{text}</p>",
            "spoiler_text": text,
            "media_attachments": [{"type": "image", "description": text}],
        }
    ),
    "MessageWords.of": lambda text: MessageWords.of(Part(PartKind.OWN, line) for line in text.split("\n")).text,
    "harmless": harmless,
    "checkable_in": lambda text: checkable_in(text, "en"),
    "unframed": unframed,
    "unmarked": unmarked,
    "check_reply": lambda text: check_reply(text, context_for("Muslims are 3 of 4.", "en")),
    "cues": cues,
    "quote_of": lambda text: quote_of(text, "en"),
    "triplets.parse": parse,
    "read_object": read_object,
    "parse_explanations": parse_explanations,
    "bare_reply": bare_reply,
    "check_text": check_text,
    "names_violence": names_violence,
    "people_named": lambda text: people_named(text, "en"),
    "signals_of_words": lambda text: signals_of_words(text, "en", None),
    "is_code": is_code,
    "bare": bare,
    "spellings": spellings,
    "starred": starred,
    "with_plain_letters": with_plain_letters,
    "without_lookalikes": without_lookalikes,
    "in_standard_words": encoder_text.in_standard_words,
    "is_everyday": encoder_text.is_everyday,
    "is_friendly": encoder_text.is_friendly,
    "is_slogan": encoder_text.is_slogan,
    "objects_to_quote": encoder_text.objects_to_quote,
    "with_neutral_names": encoder_text.with_neutral_names,
    "check_sendable": check_sendable,
    "hidden_characters": hidden_characters,
    "leak_in": leak_in,
    "speaks_as_tool": speaks_as_tool,
    "disarm": disarm,
    "instructs": instructs,
    "obeys": obeys,
    "language_of_post": lambda text: language_of_post(text, "en"),
    "words_alone": words_alone,
    "links_in": lambda text: list(links_in(text)),
    "likeness_of": likeness_of,
    "readable": encoder_text.readable,
    "hard_to_read": lambda text: hard_to_read(text, "en"),
    "raised_in": raised_in,
    "is_coded": is_coded,
    "groups_named": groups_named,
    "undisguised": undisguised,
    "told_apart": told_apart,
    "homonyms_in": homonyms_in,
    "senses_in": senses_in,
    "slurs_in": slurs_in,
    "clean": clean,
    "content_stems": content_stems,
    "has_letters": has_letters,
    "numbers": numbers,
    "sentences": sentences,
    "words": words,
    "clean_line": clean_line,
    "cleaned": lambda text: cleaned(Raw([text, text], is_wrapped=True)),
    "spans": lambda text: spans([Page(1, text)], "en"),
    "lowered": lowered,
    "first_sentences": lambda text: first_sentences(text, 2),
    "tokens": tokens,
    "groups_in": groups_in,
    **{f"figures {language}": partial(weighed, language) for language in LANGUAGES},
    **{
        f"{type(markup).__name__}.{name}": read
        for markup in (DiscordMarkup(), TelegramMarkup(), PageMarkup())
        for name, read in {
            "inert": limited(markup.inert),
            "covered": limited(markup.covered),
            "framed": markup.framed,
            "exact": markup.exact,
            "units": markup.units,
        }.items()
    },
}

PARTS: Final = ("core", "kb", "adapters", "bot")
OUR_OWN: Final[Mapping[str, str]] = {
    "bot.cli.config._LOGIN": "sees the settings of whoever runs the installation",
}
"""Patterns, or whole modules, that no stranger's text reaches, each with the reason."""


def test_patterns_grow_with_the_text() -> None:
    """Each compiled pattern of the application, in texts of the pieces that it looks for."""
    for read in FUNCTIONS.values():
        unrefused(read)("Muslims are 1 of 10, she said: “no”.")  # what is compiled at its first use
    for language in LANGUAGES:
        smears(language)
    patterns = dict(found_patterns())
    steep = list[str]()
    for pattern, place in patterns.items():
        if place not in OUR_OWN and place.rpartition(".")[0] not in OUR_OWN and repeats(tree_of(pattern)):
            steep += [f"{place}: {what}: {pattern.pattern}" for what in steep_on(reading(place, pattern), own(pattern))]
    assert len(patterns) > 400, "most are compiled by the modules themselves"
    assert steep == []


def test_every_exception_is_a_pattern_that_exists() -> None:
    places = set(dict(found_patterns()).values())
    known = places | {place.rpartition(".")[0] for place in places}
    assert set(OUR_OWN) <= known


def test_patterns_within_calls_grow_with_the_text() -> None:
    """Those which are written where they are used, as in ``re.sub("...", "", text)``."""
    calls = {call for module in application() for call in calls_of(Path(str(module.__file__)))}
    steep = list[str]()
    for how, written in calls:
        pattern = re.compile(written)
        if not repeats(tree_of(pattern)):
            continue
        steep += [f"{how}: {what}: {written}" for what in steep_on(partial(METHODS[how], pattern), own(pattern))]
    assert len(calls) > 10
    assert steep == []


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_grow_with_the_text(name: str) -> None:
    read = unrefused(FUNCTIONS[name])
    read("A first call loads what is needed.")
    assert list(steep_on(read, [("", each) for each in COMMON])) == []


def test_html_that_nobody_cleaned_is_read_in_the_time_of_its_length() -> None:
    """A large text of each piece is read, not of the slowest alone."""
    read = FUNCTIONS["plain_text"]
    read("A first call loads what is needed.")
    assert list(steep_on(read, [("", each) for each in OF_HTML], worst=len(OF_HTML))) == []


@pytest.mark.parametrize(
    "read",
    [
        lambda text: [text[at:].count("b") for at in range(0, len(text), 20)],
        partial(re.findall, r"a+b"),
    ],
)
def test_what_grows_faster_is_seen(read: Read) -> None:
    assert list(steep_on(read, [("", "a")]))


def test_pieces_of_a_pattern_are_what_it_looks_for() -> None:
    assert {("", "ab"), ("ab", "c"), ("abc", "1"), ("", "a")} <= set(own(re.compile(r"abc*\d+(?:x|yz)")))


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("ab?(?:c|[de])", False), ("a{2}", True), ("(?:" + "a|" * 20 + "(?<!b)(?=c*))", True), ("(a(?i:b+))", True)],
)
def test_only_a_pattern_that_repeats_can_grow(pattern: str, expected: bool) -> None:
    assert repeats(tree_of(re.compile(pattern))) is expected


# How the costs are measured.


def steep_on(read: Read, pieces: Sequence[tuple[str, str]], worst: int = WORST) -> Iterator[str]:
    """What costs more than its length explains: texts of a head and one repeated piece."""
    longest = list[tuple[float, tuple[str, str]]]()
    for piece in pieces:
        before, now = 0.0, 0.0
        for size in SMALL:
            before, now = now, cost(read, repeated(piece, size))
            is_suspect = size > SMALL[0] and now > max(SEEN, SUSPECT * before)
            if is_suspect and (times := lasting_growth(read, piece, size)) > MOST:
                yield f"{times:.0f} times at {size} of {piece!r}"
                break
            if (size > SMALL[0] and 4 * now > AFFORDED) or (size == SMALL[-2] and now < HINT * before):
                longest.append((now / size, piece))
                break
        else:
            longest.append((now / SMALL[-1], piece))
    for each, piece in sorted(longest, reverse=True)[:worst]:
        size = max(SMALL[-1], min(LARGE, int(ENOUGH / max(each, 1e-9))))
        if (times := growth(read, piece, size)) > MOST:
            yield f"{times:.0f} times at {size} of {piece!r}"


def lasting_growth(read: Read, piece: tuple[str, str], size: int) -> float:
    """How it grows from there on, too: a step, where a longer text is read in another way, is no growth."""
    here = growth(read, piece, size)
    if here <= MOST or cost(read, repeated(piece, size)) > AFFORDED:
        return here
    return min(here, growth(read, piece, 4 * size))


def unrefused(read: Read) -> Read:
    """The same, for texts that are refused, too."""

    def tried(text: str) -> None:
        with suppress(AntiphonError):
            read(text)

    return tried


def growth(read: Read, piece: tuple[str, str], size: int) -> float:
    """How many times as long a text takes as four of a fourth of its length, at the least of several tries.

    Both are read for about as long where the cost grows with the length: a machine that takes the processor away
    every few milliseconds slows them alike. No text is read twice, since some functions remember the last ones.
    """
    high = low = inf
    for tried in range(TRIES):
        sleep(tried * PAUSE)
        high = min(high, cost(read, repeated(piece, size - tried)))
        low = min(low, sum(cost(read, repeated(piece, size // 4 + 4 * tried + each)) for each in range(4)))
        if high <= max(SEEN, MOST * low):
            break
    return high / low if high > SEEN else 0.0


def repeated(piece: tuple[str, str], size: int) -> str:
    head, unit = piece
    return (head + unit * (size // len(unit) + 1))[:size]


def cost(read: Read, text: str) -> float:
    """Seconds of the processor in this thread."""
    begun = thread_time()
    read(text)
    return thread_time() - begun


@pytest.fixture(autouse=True)
def _no_collection() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


# Which patterns there are, and how they are used.


def exhausted(pattern: re.Pattern[str], text: str) -> None:
    for _ in pattern.finditer(text):
        pass


METHODS: Final[Mapping[str, Callable[[re.Pattern[str], str], object]]] = {
    "match": re.Pattern.match,
    "fullmatch": re.Pattern.fullmatch,
    "search": exhausted,
    "sub": exhausted,
    "subn": exhausted,
    "split": exhausted,
    "finditer": exhausted,
    "findall": exhausted,
}


@lru_cache
def application() -> tuple[ModuleType, ...]:
    return tuple(
        importlib.import_module(info.name)
        for part in PARTS
        for info in pkgutil.walk_packages(importlib.import_module(part).__path__, f"{part}.")
        if ".migrations" not in info.name and not info.name.endswith("__main__")
    )


def found_patterns() -> Iterator[tuple[re.Pattern[str], str]]:
    """Every compiled pattern, with the module and the name under which it is kept."""
    seen = set[int]()
    for module in application():
        for name, value in vars(module).items():
            if getattr(value, "__module__", module.__name__) == module.__name__ or isinstance(value, re.Pattern):
                yield from ((pattern, f"{module.__name__}.{name}") for pattern in patterns_in(value, seen))


def patterns_in(value: object, seen: set[int]) -> Iterator[re.Pattern[str]]:
    """Those of a value: of what it holds, of a class, of what a cached function remembers or a function has bound."""
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    if id(value) in seen or isinstance(value, str | bytes | int | float | ModuleType):
        return
    seen.add(id(value))
    inner: list[object] = []
    if isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    elif isinstance(value, partial):
        inner = [value.func, *value.args, *value.keywords.values()]
    elif hasattr(value, "cache_info"):
        inner = [*gc.get_referents(value)]
    elif is_ours(type(value)) or is_ours(value):
        slots = [name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ())]
        inner = [*getattr(value, "__dict__", {}).values(), *(getattr(value, name, None) for name in slots)]
        inner += [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        inner += [
            *(getattr(value, "__defaults__", None) or ()),
            *(getattr(value, "__kwdefaults__", None) or {}).values(),
        ]
    for one in inner:
        yield from patterns_in(one, seen)


def is_ours(value: object) -> bool:
    return str(getattr(value, "__module__", "")).partition(".")[0] in PARTS


def reading(place: str, pattern: re.Pattern[str]) -> Read:
    """How a pattern is used: from the beginning only, where its name is followed by nothing else in all modules."""
    used = uses()[place.rpartition(".")[2]]
    return partial(
        METHODS[next(iter(used))] if len(used) == 1 and used <= {"match", "fullmatch"} else exhausted, pattern
    )


@lru_cache
def uses() -> Mapping[str, set[str]]:
    """The methods that follow each name in all modules, and "" where the name is not called so."""
    found = defaultdict[str, set[str]](set)
    for module in application():
        text = Path(str(module.__file__)).read_text(encoding="utf-8")
        for name, method in re.findall(r"\b(\w+)\b(?!: Final|:? ?=)(?:(?=\.(\w+)\())?", text):
            found[name].add(method)
    return found


def calls_of(path: Path) -> Iterator[tuple[str, str]]:
    """The functions of ``re`` that a module calls with a pattern written there."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="re"), attr=str(how)), args=[ast.Constant(value=str(written)), *_]
            ) if how in METHODS:
                yield how, written


# What a pattern looks for.


def own(pattern: re.Pattern[str]) -> list[tuple[str, str]]:
    """Texts as heads and pieces: what the pattern matches, what it nearly matches, and each part of it."""
    tree = tree_of(pattern)
    found = dict.fromkeys(("", each) for each in PLAIN)
    mine = dict[tuple[str, str], None]()
    for choice in range(4):
        whole = written(tree, choice)
        for text in (
            whole,
            whole[:-1],
            whole[1:],
            whole + " ",
            whole * 2 + "\n",
            whole.upper(),
            whole[: len(whole) // 2],
        ):
            mine[("", text)] = None
        mine |= dict.fromkeys(parts(tree, choice, ""))
    kept = [piece for piece in mine if piece[1]]
    step = max(1, len(kept) // MOST_PIECES)
    return [*found, *kept[::step]]


def tree_of(pattern: re.Pattern[str]) -> Sequence[Any]:
    parsed: Sequence[Any] = importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    return parsed


def repeats(tree: Sequence[Any]) -> bool:
    """Whether a part may stand more than once: without one no match is longer than its pattern, wherever it begins."""
    return any(
        (str(name).endswith("_REPEAT") and value[1] > 1) or any(map(repeats, within((name, value), most=None)))
        for name, value in tree
    )


def parts(tree: Sequence[Any], choice: int, head: str) -> Iterator[tuple[str, str]]:
    """Each repeated part behind what stands before it, and alone; each run of characters."""
    run = ""
    for node in tree:
        name, value = str(node[0]), node[1]
        if name == "LITERAL":
            run += chr(value)
        elif run:
            yield "", run
            run = ""
        if name.endswith("_REPEAT"):
            yield head, written(value[2], choice)
            yield "", head + written(value[2], choice)
            yield "", written(value[2], choice)
        for inner in within(node):
            yield from parts(inner, choice, head)
        head += written([node], choice)
    if run:
        yield "", run


def within(node: Any, most: int | None = 12) -> list[Sequence[Any]]:
    """The patterns in a part of a pattern; of its alternatives the first ones."""
    name, value = str(node[0]), node[1]
    if name == "BRANCH":
        return list(value[1][:most])
    if name == "SUBPATTERN":
        return [value[3]]
    if name.endswith("_REPEAT"):
        return [value[2]]
    if name.startswith("ASSERT"):
        return [value[1]]
    return [value] if name == "ATOMIC_GROUP" else []


def written(tree: Sequence[Any], choice: int) -> str:
    """A short text that the pattern matches, look-arounds aside; of alternatives the one of this number."""
    text = ""
    for name, value in ((str(node[0]), node[1]) for node in tree):
        if name == "LITERAL":
            text += chr(value)
        elif name in {"ANY", "NOT_LITERAL"}:
            text += "ab"[value == ord("a")] if name == "NOT_LITERAL" else "a"
        elif name == "IN":
            text += one_of(value, choice)
        elif name == "BRANCH":
            text += written(value[1][choice * 7 % len(value[1])], choice)
        elif name == "SUBPATTERN":
            text += written(value[3], choice)
        elif name == "ATOMIC_GROUP":
            text += written(value, choice)
        elif name.endswith("_REPEAT"):
            text += written(value[2], choice) * max(min(value[0], 50), 1)
    return text


def one_of(chosen: Sequence[Any], choice: int) -> str:
    """A character of a class."""
    classes = {"CATEGORY_DIGIT": "1", "CATEGORY_WORD": "a", "CATEGORY_SPACE": " "}
    others = {"CATEGORY_NOT_DIGIT": "a", "CATEGORY_NOT_WORD": "-", "CATEGORY_NOT_SPACE": "a"}
    if str(chosen[0][0]) == "NEGATE":
        out = "".join(one_of([each], 0) for each in chosen[1:])
        return next((each for each in "a1 -.\n" if each not in out), "é")
    kind, value = (str(chosen[choice % len(chosen)][0]), chosen[choice % len(chosen)][1])
    if kind == "RANGE":
        return chr(value[0])
    return chr(value) if kind == "LITERAL" else (classes | others).get(str(value), "a")
