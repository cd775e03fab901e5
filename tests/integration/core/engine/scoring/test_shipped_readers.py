"""The readers that ship, on plain cases that no text of the training says in these words."""

import pytest

from core.engine.cards.router import shipped_router
from core.engine.readers.networks import Readers, Sureness
from core.engine.reading.signals import Signals, read_signals
from core.models import TargetGroup
from tests.fakes.engine.brief import post_of


async def _signals(readers: Readers, text: str) -> Signals:
    return await read_signals(post_of(text), readers.posts, expected="en", language="en")


@pytest.mark.parametrize(
    "text",
    [
        "Kill all Muslims.",
        "Somebody should set that mosque on fire tonight.",
        "They ought to be shot at the border, the lot of them, filthy migrants.",
        "Jews belong in the oven and I will light it.",
    ],
)
async def test_plain_threats_are_told(readers: Readers, text: str) -> None:
    """The reader decides; words for violence lower its limit."""
    assert (await _signals(readers, text)).calls_for_violence


@pytest.mark.parametrize(
    "text",
    [
        "I could kill for a coffee right now.",
        "Kill the boss first, then burn the village and loot it.",
        "My grandfather was murdered in Treblinka because he was a Jew.",
        "Women often hang out at the pool here.",
    ],
)
async def test_talk_of_violence_is_no_threat(readers: Readers, text: str) -> None:
    """Nor is it hateful."""
    signals = await _signals(readers, text)
    assert not signals.calls_for_violence
    assert signals.hateful is not None
    assert signals.hateful < 0.5


@pytest.mark.parametrize(
    "text",
    [
        "Islam is a cancer on our civilisation.",
        "Islam is a plague.",
        "Islam is poison for the West.",
        "Islam is incompatible with any civilised country.",
        "Judaism is a disease of the mind.",
        "Muslims are a cancer in Europe.",
        "Immigration is a tumour that eats our country.",
        "Homosexuality is a sickness that spreads.",
        "Women are a curse on the workplace.",
        "Africans are a burden on the white race.",
        "Disabled people are dead weight.",
    ],
)
async def test_a_faith_or_a_people_called_a_disease_is_hateful(readers: Readers, text: str) -> None:
    """And the reader is sure of it."""
    assert readers.posts.sureness(readers.posts.hateful([text], "en")[0], "en") is Sureness.HATEFUL


@pytest.mark.parametrize(
    ("text", "group"),
    [
        ("Muslims are animals and have no place among us.", TargetGroup.MUSLIMS),
        ("Women are too emotional to be trusted with a vote.", TargetGroup.WOMEN),
        ("Gays are a disease.", TargetGroup.LGBT),
    ],
)
async def test_plain_hate_is_told_with_its_group(readers: Readers, text: str, group: TargetGroup) -> None:
    """And the reader is sure of it."""
    signs = readers.posts.read([text], "en")[0]
    assert readers.posts.sureness(signs.hateful) is Sureness.HATEFUL
    assert group in signs.attacked


@pytest.mark.parametrize(
    "text",
    [
        "My wife is Jewish and her mum's challah is the best thing on earth.",
        "Nobody should hate Muslims for what they believe.",
        "'All gays are sick' is a vile thing to say about anybody.",
        "As a trans woman I am so tired of this weather.",
        "This bloody printer is a piece of shit.",
    ],
)
async def test_the_people_attacked_are_not_accused(readers: Readers, text: str) -> None:
    """Praise, denial, counterspeech, people about themselves, and swearing at things."""
    assert readers.posts.hateful([text], "en")[0] < 0.5


@pytest.mark.parametrize(
    ("reply", "is_fit"),
    [
        ("They pay taxes like all of us.", True),
        ("No, and saying it twice does not make it true: most of them work.", True),
        ("Exactly, somebody had to say it.", False),
        ("Some of them do, of course, but you should not say so of all.", False),
        ("You are a moron and should be locked up.", False),
    ],
)
async def test_a_reply_is_read_with_its_post(readers: Readers, reply: str, is_fit: bool) -> None:
    """Short and plain ones are fit; agreement, concessions, and insults are not."""
    drafts = readers.drafts
    found = drafts.read("Migrants only come here to live on our money.", [reply], "en")[0]
    assert (found.unfit < drafts.limits[1]) is is_fit


@pytest.mark.parametrize(
    ("text", "language", "group", "stereotype"),
    [
        ("Quien dio el voto a las mujeres cometió un error histórico.", "es", TargetGroup.WOMEN, "women/vote"),
        ("Los moros vienen a invadirnos y a imponer su ley.", "es", TargetGroup.MUSLIMS, "muslims/sharia"),
        ("Le banche sono tutte in mano agli ebrei.", "it", TargetGroup.JEWS, "jews/banks"),
        ("I rom non vogliono lavorare, campano sulle spalle degli altri.", "it", TargetGroup.OTHER, "other/roma-lazy"),
    ],
)
def test_plain_posts_are_routed_in_spanish_and_italian(
    text: str, language: str, group: TargetGroup, stereotype: str
) -> None:
    """Without a word of the language model: a volunteer without it gets the cards, too."""
    assert [one.stereotype.id for one in shipped_router().route(text, language, group)] == [stereotype]
    assert shipped_router().route(text, "eu", group) == [], "too few Basque posts were there to fix limits on"
