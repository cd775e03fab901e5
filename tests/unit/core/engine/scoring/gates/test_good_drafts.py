"""What the gates let through: kind drafts in four languages, prepared sentences, quotations, known names, no more."""

import pytest

from core.engine.scoring.gates import doubts_of, fault_of, own_sentences
from tests.fakes.engine.gates import context

GOOD = [
    ("en", "Our neighbours from abroad care for our parents and teach our children."),
    ("en", "Imagine starting again in a town where nobody knows your name."),
    ("en", "Who helped you when you were new somewhere?"),
    ("en", "Talking about people as if they were a bill to pay is unkind, and it has no place here."),
    ("en", "People who move here work beside us. They deserve a friendly word."),
    ("en", "Nobody should have to read this about their own parents."),
    ("en", "My street is better for the families who came from far away."),
    ("en", "We don't talk about our neighbours in this way here."),
    ("en", "In 2022, 61% of newcomers in Brenmoor found work."),
    ("en", "The Town hall counted 1200 newcomers with a job."),
    ("en", "What would you want strangers to say about your own family?"),
    ("en", "Every person who reads this deserves to feel at home."),
    ("en", "The idea that everyone belongs is what keeps a street together."),
    ("eu", "Nondik datoz horrelako iritziak?"),
    ("en", "A warm welcome costs little and stays with a family for life."),
    ("en", "That hurts to read, because these are our friends and colleagues."),
    ("en", "Migrants are nurses, bakers and parents. We are lucky to have them."),
    ("en", "Let’s keep this a place where anyone can sit down at the table."),
    ("en", "It's not OK to speak of neighbours like that."),
    ("en", "I think of the baker on our corner, who arrived with one suitcase."),
    ("en", "Why not ask the family next door how their first winter was?"),
    ("en", "“Welcome” is a small word that means a lot."),
    ("en", "You and I were both new somewhere once…"),
    ("en", "Almost two thirds of kindness is listening, as my grandmother used to joke."),
    ("en", "Whether you are a neighbour or a guest, there is soup on the table."),
    ("en", "It makes no sense to blame a neighbour for the rain."),
    ("en", "A town is better with more voices than with one."),
    ("en", "Muslims, Christians and Jews share our street, and every Monday they share a table."),
    ("en", "Hate crimes hurt a whole town, and kindness mends it."),
    ("en", "Nobody should use one quarrel as an excuse for violence against a whole street."),
    ("en", "We muster our courage and knock on the door next door."),
    ("es", "Nadie debería usar una pelea como excusa para la violencia contra un barrio entero."),
    ("it", "Nessuno dovrebbe usare una lite come scusa per la violenza contro un intero quartiere."),
    ("es", "No es verdad que el respeto sea caro: cuesta poco."),
    ("es", "¿Por qué no hablamos con la familia de al lado?"),
    ("es", "No tiene sentido hablar así de nadie."),
    ("es", "Hay que cuidar las palabras, porque hacen daño."),
    ("es", "Un vecino negro y una vecina blanca cuidan juntos el jardín."),
    ("it", "Non è vero che il rispetto costa: basta poco."),
    ("it", "Ci piacciono perché sono i nostri amici e colleghi."),
    ("it", "Perché non chiedere alla famiglia accanto come sta?"),
    ("it", "Non ha senso parlare così di qualcuno."),
    ("it", "Le api e i fiori insegnano che insieme si cresce."),
    ("eu", "Zergatik ez diogu ondoko familiari galdetzen nola dagoen?"),
    ("eu", "Ez du zentzurik inori horrela hitz egiteak."),
    ("eu", "Egia esan, hitz atseginek gutxi balio dute eta asko ematen dute."),
    ("es", "Nuestros vecinos cuidan de nuestros padres y crían a sus hijos aquí."),
    ("es", "¿Quién te ayudó cuando eras nuevo en un lugar?"),
    ("es", "Hablar así de las personas hace daño. Aquí cabemos todos."),
    ("it", "I nostri vicini lavorano con noi e crescono qui i loro figli."),
    ("it", "Chi ti ha aiutato quando eri nuovo in un posto?"),
    ("it", "Parlare così delle persone fa male. Qui c'è posto per ciascuno."),
    ("eu", "Gure auzokideek gurekin lan egiten dute eta hemen hazten dituzte seme-alabak."),
    ("eu", "Nork lagundu zizun leku berri batera iritsi zinenean?"),
    ("eu", "Horrela hitz egiteak min ematen du. Hemen denontzat dago lekua."),
]


@pytest.mark.parametrize(("language", "text"), GOOD)
def test_a_good_draft_passes(language: str, text: str) -> None:
    """The gates leave ordinary kind replies alone, or there would be nothing to approve."""
    assert fault_of(text, context(language)) is None


def test_prepared_sentences_are_free_of_gates_on_wording() -> None:
    """What was prepared may use words that a model may not."""
    text = "Our religion is kind, and 40 families know it."
    assert fault_of(text, context()) is not None
    assert fault_of(text, context(prepared=(text,))) is None


def test_prepared_sentences_are_held_to_form() -> None:
    """No list lets a link, a slur, a fifth sentence or too long a text through."""
    for text in (
        "Read example.org today.",
        "Only idiots say so.",
        "One. Two. Three. Four. Five.",
        "word " * 100 + "end.",
    ):
        parts = tuple(part if part.endswith(".") else part + "." for part in text.split(". "))
        assert fault_of(text, context(prepared=(text, *parts))) is not None


def test_a_sentence_beside_a_prepared_one_is_not_exempt() -> None:
    """Only the prepared sentence itself is exempt, not the draft that it stands in."""
    prepared = "Who helped you when you were new?"
    assert fault_of(f"{prepared} As an AI, I like it.", context(prepared=(prepared,))) == "refusal"


def test_verbatim_evidence_is_exempt() -> None:
    """A quoted passage may hold its numbers and names; the same sentence with one number changed may not."""
    quote = "In 2022, 61 per cent of newcomers in Brenmoor had a job."
    assert own_sentences(f"{quote} Welcome to all.", context()) == ["Welcome to all."]
    assert fault_of(quote, context()) is None
    assert fault_of(quote.replace("61", "71"), context()) == "a number that no evidence holds"


def test_known_names_may_be_used() -> None:
    """Names in prepared sentences, of the post and of the evidence are not invented."""
    text = "Ask the choir at Tern Bridge about their newest singers."
    assert doubts_of(text, context()) == ("No evidence holds the name “Tern”.", "No evidence holds the name “Bridge”.")
    assert doubts_of(text, context(named=("tern", "bridge"))) == ()


def test_a_hedged_part_is_left_to_the_checker() -> None:
    """A hedged half is a wording; a bare half of many is a figure, and a rounded figure is another figure."""
    draft = "{} of our bakers sing, and we are glad."
    assert fault_of(draft.format("Nearly half"), context()) is None
    assert fault_of(draft.format("Half"), context()) == "a number that no evidence holds"


def test_a_short_reply_may_share_a_few_words() -> None:
    """Two short replies that have some words in common are not the same reply."""
    assert fault_of("Belonging is for every town.", context()) is None
