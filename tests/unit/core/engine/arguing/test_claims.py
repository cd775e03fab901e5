"""Counter-claims: which lose before the vote, and a vote that no claim wins by its place."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from core.engine.arguing.arguments import MOST_CLAIMS, fault_of_claim, propose_claims, vote
from core.engine.llm.budget import LIVE, PAPER, Profile
from core.engine.ports import Message
from core.models import Claim
from tests.fakes.engine.arguments import card_of
from tests.fakes.engine.brief import metered, post_of
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.readers import readers_saying

PREPARED = [f"Prepared claim {name} is kind." for name in ("one", "two", "three", "four")]
CARDS = [card_of(f"migrants/welfare-{number}", claim=claim) for number, claim in enumerate(PREPARED, 1)]
GENERAL = card_of("migrants/any-1", claim="Everybody belongs here.")
CLAIMS = [f"Claim {name} is kind." for name in ("one", "two", "three", "four", "five")]
STANDING = ("Newcomers nurse our parents and bake our bread.", "A warm street keeps its families for life.")


@pytest.mark.parametrize(
    ("fault", "language", "claim"),
    [
        ("not one plain sentence", "en", "Kindness wins."),
        ("not one plain sentence", "en", "Newcomers nurse our parents. They bake our bread."),
        ("overstates", "en", "Migrants have a right to live in any country they choose."),
        ("overstates", "en", "Women are more likely to be good leaders."),
        ("overstates", "en", "Most people from abroad work hard."),
        ("overstates", "en", "The majority of newcomers find work."),
        ("overstates", "en", "Newcomers always help their neighbours."),
        ("overstates", "en", "They never take a day off."),
        ("overstates", "en", "Only newcomers do the night shift."),
        ("overstates", "en", "Women are naturally kind leaders."),
        ("overstates", "en", "Newcomers rarely break a rule."),
        ("overstates", "en", "All migrants are kind people at heart."),
        ("overstates", "en", "Families may settle wherever they like in town."),
        ("overstates", "es", "Los recién llegados siempre ayudan a sus vecinos."),
        ("overstates", "es", "Pueden vivir en cualquier país del mundo."),
        ("overstates", "es", "La mayoría de los vecinos trabaja duro."),
        ("overstates", "it", "I nuovi arrivati aiutano sempre i vicini."),
        ("overstates", "it", "Possono vivere in qualsiasi paese del mondo."),
        ("overstates", "it", "La maggior parte dei vicini lavora sodo."),
        ("overstates", "eu", "Etorri berriek beti laguntzen diete auzokideei."),
        ("overstates", "eu", "Edozein herrialdetan bizi daitezke lasai."),
        ("overstates", "eu", "Gehienek gogor egiten dute lan egunero."),
        *((None, "en", claim) for claim in STANDING),
        (None, "en", "Every day newcomers open shops and classrooms."),
        (None, "en", "Newcomers want safe streets for their kids, like any parent."),
        (None, "en", "All of us gain from a full classroom."),
        (None, "en", "All people are born with the same worth."),
        (None, "en", "Anyone who works beside us deserves a friendly word."),
        (None, "es", "Cualquier persona merece una palabra amable."),
        (None, "es", "Todos los días abren tiendas y aulas."),
        (None, "it", "Ogni giorno aprono negozi e aule."),
        (None, "it", "Tutte le persone nascono con lo stesso valore."),
        (None, "eu", "Egunero dendak eta ikasgelak irekitzen dituzte."),
        (None, "eu", "Edozein pertsonak hitz atsegin bat merezi du."),
    ],
)
def test_which_claims_lose(fault: str | None, language: str, claim: str) -> None:
    """One that says more than can be true never reaches the vote; what is true of all may be said of all."""
    assert fault_of_claim(claim, language) == fault


async def test_prepared_claims_come_first_and_each_once() -> None:
    """What the first cards argue stands for certain; numbering goes, and a claim is not voted on twice."""
    written = [f"1. {STANDING[0]}", f"- {STANDING[0]}", "", f"2) {STANDING[1]}", f"3. {PREPARED[0]}"]
    model = FakeModel(texts={"claims": "\n".join(written)})
    claims, degraded = await propose_claims(post_of(), "en", CARDS, metered(model), readers_saying())
    assert claims == [*PREPARED[:3], *STANDING]
    assert degraded == []


async def test_a_general_argument_is_used_only_where_there_is_no_other() -> None:
    """A claim that fits any post answers none; where nobody knows what the post says it is better than nothing."""
    for cards, expected in (([CARDS[0], GENERAL], PREPARED[0]), ([GENERAL], GENERAL.claim)):
        claims, _ = await propose_claims(post_of(), "en", cards, metered(FakeModel()), readers_saying())
        assert claims == [expected]


async def test_an_argument_without_words_in_the_language_is_argued_in_english() -> None:
    """The model that writes in Basque still knows what to argue; what a community took out is argued no more."""
    cards = [replace(CARDS[0], is_translated=False), replace(CARDS[1], claim="")]
    claims, _ = await propose_claims(post_of(), "eu", cards, metered(FakeModel()), readers_saying())
    assert claims == [CARDS[0].claim]


async def test_a_model_that_is_not_wanted_is_not_asked() -> None:
    """People wait: what the cards argue is enough for them, and nothing is said to be missing."""
    model = FakeModel(texts={"claims": STANDING[0]})
    claims, degraded = await propose_claims(post_of(), "en", CARDS, metered(model), readers_saying(), asks_model=False)
    assert (claims, degraded) == (PREPARED[:3], [])
    assert not model.asked


async def test_prepared_claims_are_not_held_to_the_lists() -> None:
    """The lists are for what a model writes; people checked the others."""
    card = card_of(claim="Every child deserves any help and only kindness.")
    assert fault_of_claim(card.claim, "en") == "overstates"
    claims, _ = await propose_claims(post_of(), "en", [card], metered(FakeModel()), readers_saying())
    assert claims == [card.claim]


@pytest.mark.parametrize(
    ("opposing", "kept", "note"),
    [
        (0.99, [STANDING[0]], "claims: 1 of 2 written claims were dropped (overstates)"),
        (0.01, [], "claims: 2 of 2 written claims were dropped (does not oppose the post / overstates)"),
    ],
)
async def test_lost_claims_are_counted(opposing: float, kept: list[str], note: str) -> None:
    """A person sees how many were dropped, and why; some reasons are whole sentences, which a comma would not part."""
    model = FakeModel(texts={"claims": f"Most people from abroad work hard.\n{STANDING[0]}"})
    found = await propose_claims(post_of(), "en", [], metered(model), readers_saying(opposing=opposing))
    assert found == (kept, [note])


async def test_the_reader_can_drop_a_claim() -> None:
    """A claim that attacks somebody loses also where its words are mild."""
    readers = readers_saying(unfit=0.9, harm=0.95)
    _, degraded = await propose_claims(post_of(), "en", [], metered(FakeModel(texts={"claims": STANDING[0]})), readers)
    assert "calls for harm or exclusion" in degraded[0]


async def test_the_reader_is_not_asked_in_a_language_that_they_do_not_know() -> None:
    """A verdict on a language that the readers never saw would be a guess."""
    model = FakeModel(texts={"claims": "Los vecinos nuevos cuidan de nuestros padres."})
    readers = readers_saying(opposing=0.0, hate=1.0)
    claims, degraded = await propose_claims(post_of("Fuera de aquí."), "es", [], metered(model), readers)
    assert claims == ["Los vecinos nuevos cuidan de nuestros padres."]
    assert degraded == []


async def test_there_are_five_claims_at_most() -> None:
    """Each is a letter of the ballot, and a call of the published vote."""
    model = FakeModel(texts={"claims": "\n".join([*STANDING, "Newcomers cook for the whole street in summer."])})
    claims, _ = await propose_claims(post_of(), "en", CARDS, metered(model), readers_saying())
    assert claims == [*PREPARED[:3], *STANDING[:2]]
    assert len(claims) == MOST_CLAIMS


@pytest.mark.parametrize(("profile", "ballots"), [(LIVE, 2), (PAPER, len(CLAIMS))])
async def test_two_ballots_are_enough_but_in_the_published_vote(profile: Profile, ballots: int) -> None:
    """There each claim stands in each place once."""
    model = FakeModel()
    await vote(post_of(), CLAIMS, metered(model, profile))
    assert model.calls["vote"] == ballots


async def test_without_a_model_the_prepared_claims_are_used() -> None:
    """A model that is down costs its own claims only, and the reason is told."""
    claims, degraded = await propose_claims(post_of(), "en", CARDS, metered(FakeModel(down=True)), readers_saying())
    assert claims == PREPARED[:3]
    assert degraded == ["claims: the model wrote no claim (The fake model is down.); prepared claims are used"]


@pytest.mark.parametrize("count", [2, 3, 5])
@pytest.mark.parametrize("profile", [LIVE, PAPER])
async def test_no_claim_wins_by_its_place(count: int, profile: Profile) -> None:
    """A model that always answers A gives every claim the same share."""

    def first_letter(_: Sequence[Message], options: Sequence[str]) -> dict[str, float]:
        return {option: float(option == "A") for option in options}

    model = FakeModel(shares={"vote": first_letter})
    ranked, degraded = await vote(post_of(), CLAIMS[:count], metered(model, profile))
    assert [claim.votes for claim in ranked] == [pytest.approx(1 / count, abs=1e-3)] * count
    assert [claim.text for claim in ranked] == CLAIMS[:count]
    assert degraded == []


async def test_the_favourite_wins_from_every_place() -> None:
    """The shares go to the claim behind the letter, in whatever order it was shown."""

    def prefers_four(messages: Sequence[Message], options: Sequence[str]) -> dict[str, float]:
        line = next(line for line in messages[-1].content.splitlines() if CLAIMS[3] in line)
        return {option: 0.6 if option == line[0] else 0.4 / (len(options) - 1) for option in options}

    ranked, _ = await vote(post_of(), CLAIMS, metered(FakeModel(shares={"vote": prefers_four})))
    assert ranked[0] == Claim(CLAIMS[3], 0.6)
    assert sum(claim.votes or 0 for claim in ranked) == pytest.approx(1, abs=1e-3)


async def test_without_a_readable_letter_there_is_no_vote() -> None:
    """A share that could not be read is missing, not zero."""
    ranked, degraded = await vote(post_of(), CLAIMS, metered(FakeModel(shares={"vote": None})))
    assert ranked == [Claim(text, None) for text in CLAIMS]
    assert degraded == ["claims: no vote was held (the model gave no letter); the first is used"]


async def test_a_vote_that_is_cut_short_does_not_count() -> None:
    """Half a rotation favours whoever stood first, so it is no vote."""
    model = metered(FakeModel(), replace(LIVE, max_model_calls=1))
    ranked, degraded = await vote(post_of(), CLAIMS[:3], model)
    assert [claim.votes for claim in ranked] == [None] * 3
    assert "model call limit" in degraded[0]


async def test_one_claim_needs_no_vote() -> None:
    """The model is not asked to choose where there is no choice."""
    model = FakeModel()
    assert await vote(post_of(), CLAIMS[:1], metered(model)) == ([Claim(CLAIMS[0], 1.0)], [])
    assert await vote(post_of(), [], metered(model)) == ([], [])
    assert model.calls.total() == 0
