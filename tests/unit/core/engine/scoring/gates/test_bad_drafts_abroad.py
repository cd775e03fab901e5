"""The gates: what no draft in Spanish, Italian or Basque may say."""

import pytest

from core.engine.scoring.gates import fault_of
from tests.fakes.engine.gates import context

BAD_ABROAD = [
    ("es", "refusal", "Como inteligencia artificial, creo en el respeto."),
    ("es", "refusal", "Eso va contra mis normas."),
    ("es", "claims an identity", "Nuestra religión enseña la paz."),
    ("es", "claims an identity", "Nosotros los musulmanes queremos vivir en paz."),
    ("es", "prompt text", "Claro, aquí va la respuesta: el respeto es de todos."),
    ("es", "obeys an instruction", "Mis instrucciones son hablar con amabilidad."),
    ("es", "a number that no evidence holds", "La mitad de nuestros médicos nació lejos."),
    ("es", "a number that no evidence holds", "Uno de cada tres médicos nació lejos."),
    ("es", "a date that no evidence holds", "El coro cantó el 12 de mayo en la plaza."),
    ("es", "slur or insult", "Solo un 1diota habla así, o un 1d1ot."),
    ("es", "link or mention", "Escribe a @maria y pregunta cómo le va."),
    ("es", "cut off", "Nuestros vecinos trabajan con nosotros y"),
    ("es", "too many sentences", "Trabajan. Pagan. Cantan. Cocinan. Viven aquí."),
    ("it", "refusal", "In quanto intelligenza artificiale, credo nel rispetto."),
    ("it", "claims an identity", "La nostra religione insegna la pace."),
    ("it", "claims an identity", "Noi musulmani vogliamo vivere in pace."),
    ("it", "prompt text", "Certo, ecco la mia proposta: il rispetto è di tutti."),
    ("it", "obeys an instruction", "Come mi hai chiesto, parlo con gentilezza."),
    ("it", "a number that no evidence holds", "La metà dei nostri medici è nata lontano."),
    ("it", "a number that no evidence holds", "Un medico su tre è nato lontano."),
    ("it", "a date that no evidence holds", "Il coro ha cantato il 12 maggio in piazza."),
    ("it", "another language", "Newcomers work beside us and deserve respect."),
    ("it", "slur or insult", "Solo un 1d1ot parla così."),
    ("it", "cut off", "I nostri vicini lavorano con noi e"),
    ("it", "too many sentences", "Lavorano. Pagano. Cantano. Cucinano. Vivono qui."),
    ("eu", "refusal", "Adimen artifiziala naizen aldetik, errespetua maite dut."),
    ("eu", "claims an identity", "Gure erlijioak bakea irakasten du."),
    ("eu", "claims an identity", "Gu musulmanok bakean bizi nahi dugu."),
    ("eu", "prompt text", "Noski, hona nire proposamena: errespetua denona da."),
    ("eu", "obeys an instruction", "Nire jarraibideak atsegin hitz egitea eskatzen du."),
    ("eu", "a number that no evidence holds", "Gure medikuen % 40 urrun jaio zen."),
    ("eu", "a number that no evidence holds", "Hiru medikutik bat urrun jaio zen."),
    ("eu", "a date that no evidence holds", "Abesbatzak maiatzaren 12an abestu zuen plazan."),
    ("eu", "another language", "Newcomers work beside us and deserve respect."),
    ("eu", "slur or insult", "1d1ot batek bakarrik hitz egiten du horrela."),
    ("eu", "link or mention", "Idatzi @maria lagunari eta galdetu nola dagoen."),
    ("eu", "cut off", "Gure auzokideek gurekin lan egiten dute eta"),
    (
        "eu",
        "too many sentences",
        "Lan egiten dute. Ordaintzen dute. Abesten dute. Sukaldean dabiltza. Hemen bizi dira.",
    ),
    ("es", "refusal", "Lo siento, pero no puedo ayudarte con eso."),
    ("es", "claims an identity", "Como inmigrante, me duele leer esto."),
    ("es", "prompt text", "Respuesta: nuestros vecinos merecen respeto."),
    ("es", "a number that no evidence holds", "Los vecinos pagan 40 euros cada mes."),
    ("es", "another language", "Newcomers work beside us and deserve respect."),
    ("it", "refusal", "Mi dispiace, ma non posso rispondere."),
    ("it", "claims an identity", "Come immigrato, mi fa male leggere questo."),
    ("it", "prompt text", "Risposta: i nostri vicini meritano rispetto."),
    ("it", "link or mention", "Scrivi a @maria per sapere come va."),
    ("eu", "refusal", "Barkatu, baina ezin dizut lagundu horretan."),
    ("eu", "claims an identity", "Etorkina naizen aldetik, min ematen dit honek."),
    ("eu", "prompt text", "Erantzuna: gure auzokideek errespetua merezi dute."),
]


@pytest.mark.parametrize(("language", "fault", "text"), BAD_ABROAD)
def test_a_bad_draft_is_dropped_in_every_language(language: str, fault: str, text: str) -> None:
    """The rules are the same in every language; what a draft means, a reader must tell."""
    assert fault_of(text, context(language)) == fault
