"""What a card says on a platform of plain words, and what gives way where there is little room."""

from dataclasses import replace

import pytest

from adapters.common.capture.requests import with_drafts
from adapters.common.cards.contents import sections
from adapters.common.cards.controls import Emphasis
from adapters.common.cards.drafts import source_link
from adapters.common.words.markup import Reader
from adapters.discord.speech import reader_of as reader_of_discord
from adapters.telegram.speech import reader_of as reader_of_telegram
from core.desk.rules.approval import CaseState
from core.desk.rules.case_cards import Card
from core.models import FlaggedPost, Source
from tests.fakes.ports.cards import DRAFTS, NOTICE, POST_TEXT, REALISTIC, REVIEWED, SUPPORT, samples
from tests.fakes.ports.plain_markup import plain_reader

READER = plain_reader()
ROOM = 4000


def texts(card: Card, room: int = ROOM, *, covers_all: bool = False) -> list[str]:
    return [section.text for section in sections(card, READER, room, covers_all=covers_all) if section.text]


@pytest.mark.parametrize("card", samples().values(), ids=samples().keys())
@pytest.mark.parametrize("room", [900, 2000, ROOM])
def test_a_card_keeps_its_limit_labels_included(card: Card, room: int) -> None:
    """Whatever a platform counts."""
    found = sections(card, READER, room)
    labels = sum(len(control.label) for section in found for control in section.controls)
    assert sum(len(section.text) for section in found) + labels <= max(room, _least(card))


def _least(card: Card) -> int:
    """How long a card is that may take no room at all: it says its last forms."""
    found = sections(card, READER, 0)
    labels = sum(len(control.label) for section in found for control in section.controls)
    return sum(len(section.text) for section in found) + labels


def test_the_first_words_are_neutral_and_the_post_is_covered() -> None:
    """Platforms show the beginning of a message in notifications."""
    first, *others = texts(REVIEWED)
    assert first.startswith(f"Open 01234: Waits for your decision.\nGist: {REVIEWED.gist}")
    covered = READER.markup.covered(POST_TEXT)
    assert sum(text.count("only came for the benefits") for text in (first, *others)) == 1
    assert any(covered in text for text in others)


def test_a_new_card_holds_no_word_of_the_post_and_no_draft() -> None:
    """It is what notifies people."""
    said = "\n".join(texts(REVIEWED, covers_all=True))
    assert POST_TEXT not in said
    assert DRAFTS[0].text not in said


@pytest.mark.parametrize(
    ("locale", "support", "notice"),
    [
        ("en", "A word of support", "A notice on the rules"),
        ("es", "Unas palabras de apoyo", "Un aviso sobre las normas"),
        ("it", "Una parola di sostegno", "Un avviso sulle regole"),
        ("eu", "Babes-hitza", "Arauei buruzko oharra"),
    ],
)
def test_what_is_no_reply_is_named_with_its_reason_and_no_scores(locale: str, support: str, notice: str) -> None:
    """In the reader's language, on the card and in the list of who asked; it can be approved like every draft."""
    reader = plain_reader(locale)
    listed = with_drafts(replace(REVIEWED, drafts=(SUPPORT, replace(NOTICE, rank=2))), reader, ROOM)
    for draft, name in ((SUPPORT, support), (NOTICE, notice)):
        found = sections(replace(REVIEWED, drafts=(draft,)), reader, ROOM)
        (section,) = [section for section in found if draft.text in section.text]
        title, text, reason = section.text.splitlines()
        assert f"({name}; " in title
        assert (text, bool(reason), len(section.controls)) == (draft.text, True, 2)
        assert f" {name}\n" in listed


def test_controls_stand_under_what_they_decide() -> None:
    """Approving and editing under the draft, with what is folded behind it; the case's own at the end."""
    found = sections(REVIEWED, READER, ROOM)
    (first,) = [section for section in found if DRAFTS[0].text in section.text]
    assert [control.label for control in first.controls] == [
        "Approve draft 1…",
        "Edit draft 1…",
        "Other drafts (1)…",
        "Sources (2)…",
    ]
    assert first.controls[0].weight is Emphasis.FIRST
    assert found[-1].text == ""
    assert [control.label for control in found[-1].controls][-1] == "More…"


@pytest.mark.parametrize("reader", [READER, reader_of_discord("en"), reader_of_telegram("es")])
@pytest.mark.parametrize("card", [REALISTIC, samples()["Approved"], samples()["Queued"]])
@pytest.mark.parametrize("length", [88, 500, 1_500, 2_500, 5_000])
def test_as_much_of_the_post_as_fits_stands_there_and_nothing_that_decides_is_left_out_for_it(
    card: Card, length: int, reader: Reader
) -> None:
    """The shortest post leaves the same beside it as the longest, which fills the room to the last words."""
    room, units = 3_900, reader.markup.units
    long = replace(card.post, text=("All of them are a plague, they say. " * 200)[:length].rstrip())

    def shown(post: FlaggedPost) -> list[str]:
        return [section.text for section in sections(replace(card, post=post), reader, room)]

    short = shown(replace(card.post, text="Plague."))
    full = shown(long)
    used = sum(map(units, full)) + sum(len(one.label) for part in sections(card, reader, room) for one in part.controls)
    assert used <= room
    beside = [text for text in short if reader.markup.covered("Plague.") not in text]
    assert [text for text in full if text in beside] == beside
    whole = any(reader.markup.covered(long.text) in text for text in full)
    assert whole or used > room - 40
    assert whole or length > 2_000


def test_with_little_room_a_draft_is_named_and_never_cut() -> None:
    """Half of a reply is not what would be posted."""
    long = replace(REVIEWED, drafts=(replace(DRAFTS[0], text="z" * 600),))
    said = "\n".join(texts(long, 900))
    assert "This draft is too long for the card." in said
    assert "zz" not in said


def test_links_lead_where_the_platform_says_and_to_nothing_that_is_gone() -> None:
    """A deleted post has no link; a posted reply has one."""
    posted = samples()["Posted, approved by two, the post deleted since"]
    assert posted.state is CaseState.POSTED
    said = "\n".join(texts(posted))
    assert "Go to the reply (https://plain.example/444)" in said
    assert "Go to the post" not in said


def test_a_source_is_a_link_or_says_where_it_is() -> None:
    """Protects readers from a link that opens nothing."""
    web = Source("Town hall", "Homes", 2024, "p. 3", "https://example.org/homes")
    assert source_link(web, READER.markup) == READER.markup.link("Town hall, Homes, 2024", web.url)
    file = Source("Town hall", "Homes", None, "p. 3, homes.pdf, a file of this community", "")
    assert source_link(file, READER.markup) == "Town hall, Homes, p. 3, homes.pdf, a file of this community"


def test_the_points_to_write_from_are_arguments_and_passages_with_their_sources() -> None:
    """On the card of every platform, only where there is no draft."""
    bare = replace(samples()["Needs a person, no draft"], claims=(*REVIEWED.claims, "A fourth one."))
    said = "\n".join(texts(bare))
    points = said.partition("Points to write from")[2]
    assert all(claim in points for claim in REVIEWED.claims)
    assert "A fourth one." not in points
    for passage in bare.evidence:
        assert passage.summary in points
        assert passage.source.url in points
    assert "Points to write from" not in "\n".join(texts(REVIEWED))


def test_where_the_notice_is_all_there_is_it_is_said_why() -> None:
    """On the card, and to the person who asked for a draft."""
    why = "Antiphon is not sure that any prepared reply fits."
    card = replace(REVIEWED, drafts=(replace(NOTICE, rank=1),), notes=(why,))
    for told in ("\n".join(texts(card)), with_drafts(card, READER, ROOM)):
        assert why in told
        assert "There is no draft for this post." in told
        assert NOTICE.text in told
