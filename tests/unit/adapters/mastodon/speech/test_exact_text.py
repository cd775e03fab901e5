"""What stands around an approved text, which signs call or tag somebody, and how an instance counts."""

from datetime import UTC, datetime
from typing import Any

import pytest
from mastodon.return_types import Status
from mastodon.types_base import try_cast_recurse

from adapters.mastodon.connection.instance import Instance
from adapters.mastodon.speech import (
    ROOM,
    Frame,
    PublicReply,
    check_exact,
    check_length,
    check_mute,
    check_shown,
    most_characters,
    public_reply,
    stray_sign,
    words_of_ours,
)
from core.desk.rules.policy import NO_RULES, PlaceRules
from core.errors import AmbiguousSend, PlatformUnavailable

MASTODON = Instance("home.example", "4.5.2", is_mastodon=True)
OTHER = Instance("home.example", "0.20.2", is_mastodon=False, max_characters=5000)
LINK = "https://fra.europa.eu/en/publication/2023/being-black-eu"
AUTHOR = {"id": "7", "username": "ada", "acct": "ada@far.example", "url": "https://far.example/@ada"}


def _status(content: str, **fields: Any) -> Status:
    made = {
        "id": "2",
        "in_reply_to_id": "1",
        "visibility": "unlisted",
        "content": content,
        "created_at": datetime(2026, 3, 2, tzinfo=UTC).isoformat(),
        "mentions": [AUTHOR],
        "tags": [],
        "account": AUTHOR,
    }
    return Status(**(made | fields))


# Around the text


def test_a_name_stands_before_the_text_and_a_hashtag_below() -> None:
    assert Frame().around("Hello.") == "Hello."
    assert Frame("ada@far.example", "#bot").around("Hello.") == "@ada@far.example Hello.\n\n#bot"


@pytest.mark.parametrize("shown", ["@ada@far.example Hello.", "@ada Hello."])
def test_a_server_may_show_the_name_without_its_domain(shown: str) -> None:
    assert Frame("ada@far.example").is_around("Hello.", shown)
    assert not Frame("ada@far.example").is_around("Hello!", shown)


@pytest.mark.parametrize(
    ("content", "tags", "words"),
    [
        ("<p>@ada Hello.</p>", (), "Hello."),
        ("<p>@ada@far.example Hello.</p><p>#Bot</p>", ("bot",), "Hello."),
        ("<p>@ada Hello.</p><p>#bot</p>", (), "Hello.\n\n#bot"),
        ("<p>@ben Hello.</p>", (), "@ben Hello."),
        ("<p>@ada @ada Hello.</p>", (), "@ada Hello."),
        ("<p>Hello.</p><p>#bot and more</p>", ("bot",), "Hello.\n\n#bot and more"),
    ],
)
def test_our_words_are_found_again_in_what_is_shown(content: str, tags: tuple[str, ...], words: str) -> None:
    found = _status(content, tags=[{"name": name, "url": ""} for name in tags])
    assert words_of_ours(found) == words


OTHERWISE: dict[str, dict[str, Any]] = {
    "other words": {"content": "<p>@ada Hello!</p>"},
    "another place": {"in_reply_to_id": "9"},
    "nowhere": {"in_reply_to_id": None},
    "everybody sees it": {"visibility": "public"},
    "somebody else is called": {"mentions": [AUTHOR, AUTHOR | {"id": "8", "username": "ben", "acct": "ben"}]},
    "another warning": {"spoiler_text": "they are vermin"},
    "a tag": {"tags": [{"name": "rant", "url": ""}]},
}


def _public(frame: Frame) -> PublicReply:
    return PublicReply(frame.around("Hello."), "", frame, None)


@pytest.mark.parametrize("fields", OTHERWISE.values(), ids=OTHERWISE.keys())
def test_what_is_shown_otherwise_is_never_said_to_be_posted(fields: dict[str, Any]) -> None:
    parent, frame = _status("<p>x</p>", id="1"), Frame("ada@far.example")
    check_shown(_status("<p>@ada Hello.</p>"), "Hello.", _public(frame), parent)
    with pytest.raises(AmbiguousSend) as caught:
        check_shown(_status(**({"content": "<p>@ada Hello.</p>"} | fields)), "Hello.", _public(frame), parent)
    assert caught.value.remedy


def test_where_nobody_is_to_be_told_nobody_is() -> None:
    parent = _status("<p>x</p>", id="1")
    check_shown(_status("<p>Hello.</p>", mentions=[]), "Hello.", _public(Frame()), parent)
    with pytest.raises(AmbiguousSend):
        check_shown(_status("<p>Hello.</p>"), "Hello.", _public(Frame()), parent)


# Signs


@pytest.mark.parametrize(
    "text",
    [
        *("@ada", "(@ada@far.example)", "x @ada", "-@ada", "/@ada", "=@ada", "²@ada", "\u0301@ada", "＠ada", "@é"),
        *("#tag", "(#tag", "_#tag", "＃tag", "#1a", "#1\u00b72", "#1_", "##tag"),
        *("https://x.example/(@ada", "https://x.example/?@ada", "https://x.example/)#tag"),
    ],
)
def test_a_sign_before_a_word_calls_or_tags(text: str) -> None:
    assert stray_sign(text) in ("@", "＠", "#", "＃")
    with pytest.raises(PlatformUnavailable) as caught:
        check_mute(text)
    assert caught.value.remedy


@pytest.mark.parametrize(
    "text",
    [
        *("help@example.org", "_@ada", "5@ada", "@ ada", "@", "@.", "C#", "x#tag", "# title", "#1", "#12.", "é@ada"),
        *("https://x.example/@ada", "https://x.example/a#part", "https://x.example/#part", "http://x.example/?q=@ada"),
    ],
)
def test_a_sign_inside_a_word_an_address_or_before_a_number_does_not(text: str) -> None:
    assert stray_sign(text) == ""
    check_mute(text)


# What is changed


@pytest.mark.parametrize("text", ["", "  ", " x", "x\n", "a\n\n\nb", "a\tb", "a\rb", "a\x07b", "a\x85b", "a\u2028b"])
def test_what_a_server_would_change_is_refused(text: str) -> None:
    for instance in (MASTODON, OTHER):
        with pytest.raises(PlatformUnavailable) as caught:
            check_exact(text, instance)
        assert caught.value.remedy


@pytest.mark.parametrize("text", ["a  b", "a \nb", "a\n b"])
def test_software_that_tidies_its_html_shows_fewer_blanks(text: str) -> None:
    check_exact(text, MASTODON)
    with pytest.raises(PlatformUnavailable):
        check_exact(text, OTHER)


@pytest.mark.parametrize("text", ["a\nb", "a\n\nb", "e\u0301 \u00a0 \U0001f469\u200d\U0001f680", "\u202eabc"])
def test_what_stays_as_it_is_is_let_through(text: str) -> None:
    check_exact(text, MASTODON)


# Length


@pytest.mark.parametrize(
    ("text", "warning", "length"),
    [
        ("Hello.", "", 6 + 5),
        ("Hello.", "mean", 6 + 5 + 4),
        (LINK, "", 23 + 5),
        (f"({LINK}). {LINK}?a=b", "", 23 * 2 + 4 + 5),
        ("e\u0301", "", 2 + 5),
        ("www.fra.europa.eu", "", 17 + 5),
    ],
)
def test_mastodon_counts_a_link_as_23_and_a_name_without_its_domain(text: str, warning: str, length: int) -> None:
    frame = Frame("ada@far.example")
    assert frame.length(text, warning, MASTODON) == length
    assert frame.length(text, warning, OTHER) == len(f"@ada@far.example {text}{warning}")


def test_a_hashtag_counts_with_its_empty_line() -> None:
    assert Frame("", "#bot").length("Hello.", "", MASTODON) == len("Hello.\n\n#bot")


def test_a_text_may_be_as_long_as_promised_and_no_longer() -> None:
    most = most_characters(MASTODON)
    assert most == 500 - ROOM
    check_length("x" * most, "", Frame("ada"), MASTODON)
    with pytest.raises(PlatformUnavailable):
        check_length("x" * (most + 1), "", Frame(), MASTODON)


@pytest.mark.parametrize(("warning", "acct"), [("w" * 66, "ada"), ("", "a" * 69)])
def test_a_long_warning_or_name_leaves_less_room(warning: str, acct: str) -> None:
    most = most_characters(MASTODON)
    left = 500 - len(warning) - len(acct) - 2
    assert left < most
    check_length("x" * left, warning, Frame(acct), MASTODON)
    with pytest.raises(PlatformUnavailable) as caught:
        check_length("x" * (left + 1), warning, Frame(acct), MASTODON)
    assert "501" in caught.value.message


# All that is public


def _post(**said: object) -> Status:
    made: Status = try_cast_recurse(Status, {"account": {"acct": "ada@far.example"}, "spoiler_text": "", **said})
    return made


WARNINGS = {
    "en": "Answer to a post with a content warning",
    "es": "Respuesta a una publicación con aviso de contenido",
    "it-IT": "Risposta a un post con avviso sul contenuto",
    "eu": "Erantzuna eduki-abisua duen mezu bati",
    "fi": "Answer to a post with a content warning",
    None: "Answer to a post with a content warning",
}


@pytest.mark.parametrize(("language", "warning"), WARNINGS.items())
def test_no_word_of_the_authors_warning_is_public(language: str | None, warning: str) -> None:
    """A sentence of ours stands in its place, in the language of the post."""
    found = public_reply("Be kind.", _post(spoiler_text="vermin @ada #out", language=language), NO_RULES, MASTODON)
    assert (found.text, found.warning, found.language) == ("@ada@far.example Be kind.", warning, language)


def test_a_post_without_a_warning_is_answered_without_one() -> None:
    rules = PlaceRules(hashtag="#bot", mentions_author=False)
    found = public_reply("Be kind.", _post(), rules, MASTODON)
    assert (found.text, found.warning) == ("Be kind.\n\n#bot", "")


def test_a_warning_that_would_make_it_too_long_is_left_out() -> None:
    """The reply is posted rather than refused after its approval."""
    post, room = _post(spoiler_text="x", language="en"), 500 - len("@ada ") - len(WARNINGS["en"])
    assert public_reply("x" * room, post, NO_RULES, MASTODON).warning == WARNINGS["en"]
    longer = public_reply("x" * (room + 1), post, NO_RULES, MASTODON)
    assert longer.warning == ""
    check_length("x" * (room + 1 - 70), longer.warning, longer.frame, MASTODON)
