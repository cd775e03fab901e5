"""Inputs that failed once, and others of their kinds: names, other senses, leftovers of models, keywords."""

import json
from pathlib import Path
from typing import Any

import pytest

from core.engine.scoring.check import Level, check_reply, context_for
from core.engine.scoring.gates import fragment_fault
from core.engine.wording.encoder_text import readable
from core.engine.wording.giveaways import leak_in
from core.engine.wording.keywords import has_keyword
from core.engine.wording.language import language_of_post
from core.engine.wording.slurs import homonyms_in, is_coded, slurs_in

CASES = Path(__file__).parents[4] / "data" / "cases"


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]


NAMES = {
    "en": [
        "Chris Coons spoke about the bill.",
        "I met Paki, and Kike's mother cooked for us.",
        "Thanks, Paki!",
        "Refugees in Lesbos need help.",
        "Dick Van Dyke made us all laugh.",
        "They fled the invaders who bombed their homes.",
        "The dyke along the river keeps our town dry.",
        "There is a chink in the curtain.",
        "The gypsy moth ate our oaks.",
        "Dyke Road in Brighton is long.",
        "The tranny of my car is broken.",
    ],
    "es": [
        "Ayer vi a Paki en el mercado.",
        "Fuimos con Paki y Kike al cine.",
        "El campo de refugiados de Lesbos está lleno.",
        "Desfilan las comparsas de moros por la plaza.",
        "No hay moros en la costa.",
    ],
    "it": [
        "Zia Checca ha preparato il pranzo.",
        "La guerra di Troia durò dieci anni.",
        "Ludovico il Moro chiamò Leonardo a Milano.",
        "Taglio il finocchio per l'insalata.",
        "Toni Negri scrisse molti libri.",
        "Pasta alla checca con basilico.",
        "Il fiume Negro scorre verso il mare.",
    ],
    "eu": [
        "Paki gure auzokoa da.",
        "Nire izeba Paki Durangon bizi da.",
        "Gaur Kike eta Moro etorri dira.",
        "Moroak eta kristauak jaia ikusi dugu.",
        "Atzo Paki ikusi nuen plazan.",
        "Maritxu nora zoaz abestu dugu.",
    ],
}
SLURS = {
    "en": [
        "That Kike Soros runs it all.",
        "Filthy Kike bankers.",
        "The Paki shop on the corner is dirty.",
        "Paki go home.",
        "Kike Bankers Run The World Again",
        "She is a dyke.",
        "These savages burn everything.",
        "K1ke Hernandez",
    ],
    "es": ["Los moros nos invaden.", "Moro de mierda.", "Puto Moro, vete.", "El Moro ese nos roba.", "Es un moro."],
    "it": [
        "Sei una troia.",
        "È un finocchio e basta.",
        "Troia, torna a casa!",
        "Quel moro ruba.",
        "Una checca isterica.",
    ],
    "eu": ["Moro horiek asko lan egiten dute.", "Moro zikina.", "Moro bat da.", "Maritxu hutsa.", "Moro hori kanpora!"],
}
LEFTOVERS = [
    "{{name}}, migrants work as you do.",
    "Migrants pay XX% of it.",
    "Migrants work as you do turn0search1.",
    "El usuario pide una respuesta. Trabajan como tú.",
    "Let me write a short reply. They work as you do.",
    "Risposta finale: lavorano come te.",
    "2. aukera: zuk bezala egiten dute lan.",
    "Assistant: They work as you do.",
    "**They** work as you do.",
    "They work as you do. Hope this helps!",
    "They work as you do &amp; pay taxes.",
    "They work as you do.\\nThey pay taxes.",
    "They donâ€™t live off anybody.",
    "They work. (Word count: 12 words)",
    "Trabajan como tú. (Nota: esta respuesta evita culpar)",
    "Lo siento, pero no puedo responder a eso.",
    "They work as you do [source].",
    "Option 1: They work as you do.",
    "Final answer: They work as you do.",
    "Certainly! They work as you do.",
    "Of course! Here is one: They work as you do.",
    "Here's my counterspeech: They work as you do.",
    "To counter this post, one could say: They work as you do.",
    "Okay, let's see. They work as you do.",
    "I should be empathetic. They work as you do.",
    "◁think▷short◁/think▷ They work as you do.",
    "- They work as you do.",
    "`They work as you do.`",
    "_They work as you do._",
    "Dear user, they work as you do.",
    "Ellos trabajan igual que los demás 移民 trabajan.",
    "Claro, aquí va: trabajan como tú.",
    "Una posible respuesta sería: trabajan como tú.",
    "Trabajan como tú. ¿Quieres que la haga más corta?",
    "Utente: lavorano come te.",
    "Potresti dire: lavorano come te.",
    "Beno, erantzun bat idatzi behar dut. Lan egiten dute.",
    "Jakina! Zuk bezala lan egiten dute.",
    "So the task is to write a calm reply. They work as you do.",
    "I'll write a short reply. They work as you do.",
    "Use two sentences. They work as you do.",
    "Here you go: they work as you do.",
    "Reply (calm): they work as you do.",
    "Got it. They work as you do.",
    "I don't have personal opinions, but they work as you do.",
    "They work as you do. Is there anything else I can help with?",
    "In this reply, I challenge the claim. They work as you do.",
    "Aquí tienes: trabajan como tú.",
    "Trabajan como tú. ¿Te gustaría otra versión?",
    "Scriverò una risposta breve. Lavorano come te.",
    "Lavorano come te. Fonte: ISTAT.",
    "Erantzun labur bat idatziko dut. Zuk bezala egiten dute lan.",
    "Ez dut iritzi pertsonalik, baina lan egiten dute.",
]
PEOPLE_SAY = [
    "There are two options: stay or go, and they chose to stay.",
    "He said the law [sic] was clear, and she agreed […] with him.",
    "This message is meant for all who read along.",
    "I won't be silent when neighbours are insulted.",
    "My answer is no: nobody here lives off you.",
    "Step by step we got to know each other, *slowly*.",
    "Sorry, but that is not how taxes work.",
    "They paid 1.5 % of it, and that is the law.",
    "The user name you chose says enough.",
    "I hope this helps you see them as people.",
    "Of course it is hard to find a job.",
    "A) they work, b) they pay rent. What else?",
    "Here's a thought: ask them.",
    "This post is hate and nothing else.",
    "I will respond calmly to you: they are people.",
    "Understood, you are angry.",
    "Do not blame your neighbours for your rent.",
    "You can be against the policy without that.",
    "Let's write a new chapter together.",
    "Claro, pero ¿quién te lo ha contado?",
    "Ecco la mia domanda: che cosa ti hanno fatto?",
    "Hona hemen nire galdera: zer egin dizute?",
    "My response to that is a question: have you met them?",
    "Lo siento, pero no puedo estar de acuerdo contigo.",
    "Voy a responder con una pregunta: ¿los conoces?",
    "Mi dispiace, ma non posso accettare che si parli così.",
    "Spero che questo ti aiuti a vederli come persone.",
    "Barkatu, baina ezin naiz zurekin ados egon.",
    "Nire erantzuna erraza da: hitz egin haiekin.",
]
CODED = [
    "1488 forever",
    "14/88 brothers",
    "Bring back the ovens.",
    "Fire up the gas chambers again",
    "The day of the rope is near",
    "(((they))) own your bank",
    "six million wasn't enough",
    "Hitler did nothing wrong",
    "Riaprite i forni!",
    "Que vuelvan los hornos",
    "Islam is a cancer on our civilisation.",
    "1-4-8-8",
    "((media)) lies",
    "jogger season",
    "white genocide is real",
    "109 countries, soon 110",
    "siegheil",
    "You will not replace us",
    "Remigrazione subito",
]
NOT_CODED = [
    "My uncle turned 88 last week.",
    "Bring the bread to the oven, dear.",
    "1488 is a slogan of neo-Nazis; report it.",
    "My grandmother was sent to the gas chambers in 1944.",
    "He wrote it in fourteen lines (((not)) quite.",
    "Cancer research needs money.",
    "In 1488 Dias sailed round the Cape.",
    "The book has 1488 pages.",
    "Blood and soil samples were taken.",
    "The joggers run in the park every day.",
    "41% of voters stayed at home.",
]
FOLDED = {
    "ᴍᴜsʟɪᴍs ᴀʀᴇ ᴠᴇʀᴍɪɴ": "muslims are vermin",
    "🅼🆄🆂🅻🅸🅼🆂 🅰🆁🅴 🆅🅴🆁🅼🅸🅽": "MUSLIMS ARE VERMIN",
    "🅥🅔🅡🅜🅘🅝": "VERMIN",
    "ᗰᑌᔕᒪIᗰᔕ ᗩᖇE ᐯEᖇᗰIᑎ": "MUSLIMS ARE VERMIN",
    "ꓟꓴꓢꓡꓲꓟꓢ ꓮꓣꓰ ꓦꓰꓣꓟꓲꓠ": "MUSLIMS ARE VERMIN",
    "Ꮩ乇尺爪丨几": "VERMIN",
    "uᴉɯɹǝʌ ǝɹɐ sɯᴉlsnW": "Muslims are vermin",
    "such uᴉɯɹǝʌ here": "such vermin here",
    "ᐃᓄᒃᑎᑐᑦ ᓄᓇᕗᑦ": "ᐃᓄᒃᑎᑐᑦ ᓄᓇᕗᑦ",
    "Øre og Đorđe": "Øre og Đorđe",
}
KEYWORDS = [
    ("Vermin", "They are VERMIN, all of them", True),
    ("vermin", "such v\u200bermin", True),
    ("vermin", "such ｖｅｒｍｉｎ", True),
    ("vermin", "such vеrmin", True),  # with a Cyrillic letter
    ("go back home", "go  back\nhome now", True),
    ("go back home", "go back to home", False),
    ("vermin", "vermination, subvermin", False),
    ("vermin", "_vermin_", True),
    ("vermin", "[ver](http://x.example)min", True),
    ("vermin", "ᴠᴇʀᴍɪɴ", True),
    ("vermin", "v.e.r.m.i.n", True),
    ("vermin", "they are a v e r m i n plague", True),
    ("vermin", "vérmîn", True),
    ("vermin", "verm*n", True),
    ("vermin", "not_vermin_here", True),
    ("vermin", "v€rmin", True),
    ("vermin", "νεгмιη", True),
    ("vermin", "#vermin2026", True),
    ("vermin", "ver🐀min", True),
    ("vermin", "ver<:x_x:123>min", True),
    ("vermin", "🇻🇪🇷🇲🇮🇳", True),
    ("moro", "moroak", True),
    ("moro", "Moros", True),
    ("troia", "troiei", True),
    ("zingaro", "zingari", True),
    ("maricon", "maricones", True),
    ("checca", "checche", True),
    ("go home", "#GoHome", True),
    ("1488", "1488!", True),
    ("moro", "moral", False),
    ("moro", "mora", False),
    ("roma", "Rome", False),
    ("ano", "este año", False),
    ("cat", "education", False),
    ("black", "blacken", False),
    ("spic", "so spicy, and conspicuous", False),
    ("vermin", "ver min", False),
]


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in NAMES.items() for text in texts])
def test_a_name_or_another_sense_refuses_nothing(language: str, text: str) -> None:
    """No word of the list decides by itself; a person is told of it."""
    assert slurs_in(text, language) == set()
    assert fragment_fault(text, language) is None


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in SLURS.items() for text in texts])
def test_a_slur_that_looks_like_a_name_stays_one(language: str, text: str) -> None:
    """With a capital, before a word that is no surname, and in a disguise."""
    assert slurs_in(text, language)
    assert fragment_fault(text, language)


def test_a_person_is_told_of_a_homonym() -> None:
    """Where it is taken for a name."""
    assert homonyms_in("Kike Hernandez hit a home run.", "en") == {"kike"}


@pytest.mark.parametrize("text", LEFTOVERS)
def test_a_leftover_of_a_model_is_one(text: str) -> None:
    """In four languages, and whatever marks or data it is."""
    assert leak_in(text)


@pytest.mark.parametrize("text", PEOPLE_SAY)
def test_what_people_write_is_no_leftover(text: str) -> None:
    """Words that resemble it."""
    assert leak_in(text) is None


@pytest.mark.parametrize("text", CODED)
def test_a_code_is_known(text: str) -> None:
    """A post with one is not read as harmless."""
    assert is_coded(text)


@pytest.mark.parametrize("text", NOT_CODED)
def test_who_explains_or_remembers_uses_no_code(text: str) -> None:
    """And neither does a birthday."""
    assert not is_coded(text)


@pytest.mark.parametrize(("written", "read"), FOLDED.items())
def test_letters_are_read_as_they_look(written: str, read: str) -> None:
    """Words of a language that is written in such letters stay."""
    assert readable(written, "en") == read


@pytest.mark.parametrize(("keyword", "text", "is_there"), KEYWORDS)
def test_a_keyword_is_found_in_markup_and_disguise(keyword: str, text: str, *, is_there: bool) -> None:
    """With endings of three languages, and not inside another word."""
    assert has_keyword(text, (keyword,)) is is_there


@pytest.mark.parametrize("row", _rows("keywords"), ids=lambda row: row["text"])
def test_reported_keywords(row: dict[str, Any]) -> None:
    assert has_keyword(row["text"], (row["keyword"],)) is row["expected"]


@pytest.mark.parametrize("row", _rows("check_replies"), ids=lambda row: row["reply"])
def test_reported_replies(row: dict[str, Any]) -> None:
    """Names are warned of at most, leftovers refused."""
    found = check_reply(row["reply"], context_for(row["post"], row["language"]))
    assert (found.level is Level.REFUSED) is row["expected"].startswith("refused")


@pytest.mark.parametrize("row", [row for row in _rows("read") if row["expected"] == "slurs: []"], ids=str)
def test_reported_names(row: dict[str, Any]) -> None:
    assert slurs_in(row["post"], language_of_post(row["post"], "en")) == set()


def test_a_short_italian_sentence_is_italian() -> None:
    """One word that only Italian has is enough where there is none of English."""
    assert language_of_post("I gay sono malati", "en") == "it"
    assert language_of_post("I am gay and so are my friends.", "it") == "en"
