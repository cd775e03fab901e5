"""A card at its extremes: always one message within Telegram's limits, neutral first."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.common.cards.controls import OTHERS, Act, Control, Target
from adapters.common.decisions.flows import proposal_screen
from adapters.common.decisions.press import Options, Screen, TextFile
from adapters.telegram.review import layout
from adapters.telegram.speech import MARKUP, MAX_CHARACTERS, reader_of
from core.desk.rules.case_cards import Card
from core.desk.rules.closures import CloseReason, RetractReason
from core.i18n.catalogs import LANGUAGES
from core.models import Intent
from tests.fakes.ports.cards import NOTICE, PROPOSAL, REALISTIC, REVIEWED, samples
from tests.fakes.telegram.server.texts import parsed

_CASES = st.text("0123456789abcdef", min_size=32, max_size=32)
_EXTRAS = ["", "0", "12", OTHERS, "any", "0123456789abcdef", "t0123456789abcde"]
_OWNERS = st.none() | st.integers(1, 2**52)
"""Telegram's numbers of users have 52 bits at most."""
_NASTY = st.text(alphabet='ab <>&"@#/.:$*|\\-\n\u202e\u00e9\U0001f600', max_size=3000)


_EXTRAS += [*(one.value for one in Intent), *(one.name for one in CloseReason), *(one.name for one in RetractReason)]


@given(st.sampled_from(Act), _CASES, st.integers(0, 10**9), st.sampled_from(_EXTRAS), _OWNERS)
def test_a_button_says_what_it_was_made_of(act: Act, case_id: str, version: int, extra: str, owner: int | None) -> None:
    """It is all that is left after a restart, and fits into what Telegram keeps."""
    target = Target(act, case_id, version, extra)
    data = layout.carried_data(target, owner)
    assert layout.carried_by(data) == layout.ButtonData(target, owner)
    assert len(data.encode()) <= layout.MOST_BYTES


@pytest.mark.parametrize("raw", ["", "close", "h", "?" + "A" * 22 + "1.", "h" + "A" * 22 + "1.x.y.z"])
def test_what_is_none_of_ours_is_left_alone(raw: str) -> None:
    """Panels have buttons of their own."""
    assert layout.carried_by(raw) is None


@given(st.lists(st.text(min_size=1, max_size=60), max_size=12))
def test_buttons_stand_in_rows_that_a_phone_shows(labels: list[str]) -> None:
    """Each once, in their order, in short rows; a long one has a row to itself."""
    made = layout.keyboard([Control(Act.HOLD, label) for label in labels], "0" * 32, 1)
    rows = [] if made is None else made.inline_keyboard
    assert len([button for row in rows for button in row]) == len(labels)
    for row in rows:
        assert 0 < len(row) <= 3
        assert len(row) == 1 or sum(len(button.text) for button in row) <= 30
        assert all(len(button.text) <= 34 for button in row)


def test_every_reason_fits_on_a_button() -> None:
    """Whatever is chosen comes back as it was offered."""
    target = Target(Act.CLOSE_AS, "0" * 32, 1)
    rows = tuple((one.name, one.name) for one in CloseReason)
    made = layout.options_keyboard(Options(target, "Why?", rows), 2**52)
    carried = [layout.carried_by(str(row[0].callback_data)) for row in made.inline_keyboard]
    assert carried == [layout.ButtonData(replace(target, extra=value), 2**52) for value, _ in rows]


def _shown(text: str) -> str:
    """The words as Telegram reads them; an error where its limits or its HTML are not kept."""
    return str(parsed(text, "HTML")["text"])


@pytest.mark.parametrize("locale", LANGUAGES)
@pytest.mark.parametrize("name", samples())
def test_every_state_is_one_message(name: str, locale: str) -> None:
    """With its words in full, in every language."""
    for covers_all in (True, False):
        written = layout.card_message(samples()[name], locale, covers_all=covers_all)
        assert _shown(written.text)
        assert MARKUP.units(written.text) <= MAX_CHARACTERS


def test_a_flag_that_came_late_is_shown_as_late() -> None:
    """After an outage moderators decide about what may be long over; a card of any other flag has no word of it."""
    late = layout.card_message(replace(REVIEWED, post=replace(REVIEWED.post, is_late=True)), "en")
    assert "by Jon · flagged late, after an outage\n" in _shown(late.text)
    assert "outage" not in _shown(layout.card_message(REVIEWED, "en").text)


@settings(max_examples=60)
@given(_NASTY, _NASTY, _NASTY, _NASTY)
def test_a_card_keeps_the_limits_whatever_is_in_it(post: str, draft: str, name: str, note: str) -> None:
    """The longest texts, in the characters that HTML writes in five."""
    card = replace(
        REALISTIC,
        post=replace(REALISTIC.post, text=post, author_name=name),
        drafts=tuple(replace(one, text=draft, caution=note) for one in REALISTIC.drafts),
        gist=note or None,
        is_gist_ours=False,
        flagger=name,
        why_two=(note, note),
        first_approvals=(name, name),
        first_texts=(draft, note),
        notes=(note,) * 3,
    )
    written = layout.card_message(card, "en")
    assert MARKUP.units(written.text) <= MAX_CHARACTERS
    words = parsed(written.text, "HTML")
    acting = ("mention", "bot_command", "url", "hashtag")
    assert not [one for one in words.get("entities", []) if one["type"] in acting]


def test_a_new_card_holds_no_word_of_the_post() -> None:
    """Notifications show the beginning of what is sent."""
    card = replace(
        REVIEWED, post=replace(REVIEWED.post, text="zqxj", author_name="zqxj"), gist="zqxj", is_gist_ours=False
    )
    assert "zqxj" not in layout.card_message(card, "en", covers_all=True).text
    assert "zqxj" in layout.card_message(card, "en").text


@pytest.mark.parametrize("text", ["w" * 2900, "\U0001f600" * 1450, "<&>" * 900, "w" * 4000, "a\u202eb", " a"])
def test_a_proposal_fits_into_one_message(text: str) -> None:
    """Its text as a block or as a file."""
    proposal = replace(PROPOSAL, text=text, warnings=("w" * 300,) * 18)
    written = layout.screen_message(proposal_screen(proposal, reader_of("en"), 3800), 7)
    assert MARKUP.units(written.text) <= MAX_CHARACTERS
    shown = _shown(written.text)
    assert text in shown or written.files == (TextFile("reply.txt", text),)


def test_styles_only_underline_what_labels_say() -> None:
    """Without them every button still says what it does, and no two say the same."""
    card: Card = replace(REVIEWED, drafts=(NOTICE,))
    made = layout.card_message(card, "en").keyboard
    assert made is not None
    buttons = [button for row in made.inline_keyboard for button in row]
    assert len({button.text for button in buttons}) == len(buttons)
    assert {button.style for button in buttons} <= {None, "primary", "success", "danger"}


def test_an_empty_answer_offers_nothing() -> None:
    """No keyboard where nothing can be pressed."""
    assert layout.screen_message(Screen(("Noted.",)), 7).keyboard is None
