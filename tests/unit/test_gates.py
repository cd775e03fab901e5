"""The gates: what no draft may say, in four languages, and the good drafts that they let through."""

from __future__ import annotations

import pytest

from core.gates import GateContext, fault_of, intent_fault, own_sentences, score_fault
from core.models import Intent, Scores
from tests.fakes.brief import brief_of, passage

POSTS = {
    "en": "Migrants come here and live off our welfare.",
    "es": "Los inmigrantes vienen aquí a vivir de nuestras ayudas.",
    "it": "Gli immigrati vengono qui per vivere sulle nostre spalle.",
    "eu": "Etorkinak hona datoz gure laguntzetatik bizitzera.",
}
FACT = passage("In 2022, 61 per cent of newcomers in Brenmoor had a job. The council counted 1,200 of them.")
RECENT = (
    "Everyone in this town belongs here.",
    "Here in our street, nurses and bakers greet each new family with a song and soup.",
)


def context(language: str = "en", *, vetted: tuple[str, ...] = (), named: tuple[str, ...] = ()) -> GateContext:
    """A post in the language, one fact and one recent reply; 400 characters at most."""
    brief = brief_of(FACT, text=POSTS[language], language=language)
    return GateContext(brief, 400, frozenset(vetted), RECENT, frozenset(named))


BAD = {
    "agrees with the post": [
        "I agree, something has to change in this town.",
        "You're absolutely right that money is short.",
        "Sadly, this is true in many towns.",
        "True, and yet our neighbours deserve kindness.",
        "That is a fair point, but our neighbours deserve kindness.",
        "Nobody can deny that it costs money.",
        "There is some truth in this.",
    ],
    "softens or concedes": [
        "Newcomers are also human beings, just like you.",
        "It is important to respect everyone's beliefs and opinions.",
        "Let us talk calmly, without any assumptions.",
        "Some Muslim families have a right to speak.",
        "Please understand the complexity of our society.",
        "While our town is small, we can share it.",
        "The influx of newcomers can bring new ideas.",
        "Not all newcomers are like that.",
        "I understand your worries about money.",
        "Your concerns are valid, and kindness matters.",
        "Even if they cost money, they deserve respect.",
        "Although it is hard, we should be kind.",
        "Some of them cost money, yet they are people.",
        "Newcomers may be a burden at first, yet they bring hope.",
        "Only a few migrants need help at first.",
        "Both sides have to listen.",
    ],
    "repeats the post": [
        "Migrants come here and live off our welfare, some say.",
        "They live off welfare and they come to stay.",
        "Migrants do not live on welfare.",
        "Newcomers do live with hope.",
    ],
    "restates the stereotype": [
        "They never come for welfare.",
        "Newcomers aren't here for our welfare.",
        "Nobody I know is on welfare, and it was not why we came.",
    ],
    "presupposes the claim": [
        "Is there any evidence that they are our equals?",
        "Is it really true that they are welcome?",
        "What makes you think that they take more than they give?",
        "Why do they refuse to work with us?",
        "How can we help them to behave better?",
        "Will they ever integrate into our town?",
        "Is it fair that we pay for everyone?",
    ],
    "labels a person": [
        "Our women are as capable as anyone.",
        "You are a racist and should be ashamed.",
        "You're just ignorant.",
        "People like you make this town worse.",
        "Your ignorance is showing, neighbour.",
    ],
    "refusal": [
        "As an AI, I think that everyone deserves respect.",
        "I cannot help with that request.",
        "I can’t write this reply for you.",
        "I'm sorry, but I can't assist with that.",
    ],
    "prompt text": [
        "Counter-claim: newcomers build our town.",
        "Sure, here is a reply: newcomers build our town.",
        "The post is unkind to our neighbours.",
        "</post> Newcomers build our town.",
        "Kindness never agrees with any part of it, never insults, and uses no number that is loud.",
    ],
    "claims an identity": [
        "As a refugee, I feel hurt by this.",
        "As a proud Muslim mother, I feel hurt by this.",
        "I am a migrant and this hurts me.",
    ],
    "hidden characters": ["Many people\u200b work hard.", "Many people \u202ework\u202c hard."],
    "link or mention": [
        "Read more at https://example.org about kindness.",
        "Read more at example.org about kindness.",
        "Join us at discord.gg/kind today.",
        "Join us at t.me/kind today.",
        "Ask @maria about her first year here.",
        "Ask <@1234> about her first year here.",
        "Kindness wins #welcome today.",
        "[Read this](//example.org) about kindness.",
        "Write to kind@example.org today.",
    ],
    "a number that no evidence holds": [
        "Newcomers pay 40 million each year.",
        "In 2022, 62 per cent of newcomers in Brenmoor had a job.",
        "Two out of three newcomers find a job.",
        "Half of our nurses grew up abroad.",
        "A third of our nurses grew up abroad.",
        "Twice as many nurses grew up abroad.",
        "In 2022, 61 million newcomers had a job.",
        "Some 60% of newcomers in Brenmoor had a job.",
        "Twenty-five of our nurses grew up abroad.",
        "Thousands of newcomers care for our parents.",
    ],
    "a name that no evidence holds": [
        "The mayor Helen Garrow greets newcomers.",
        "A study by Oxford shows that newcomers give a lot.",
    ],
    "another language": ["Los recién llegados trabajan con nosotros y merecen respeto."],
    "a date that no evidence holds": [
        "The choir of Brenmoor met on 12 May in the square.",
        "The choir of Brenmoor met in May 2022.",
    ],
    "obeys an instruction": [
        "As you asked, kindness wins here.",
        '{"reply": "kindness"} Kindness wins here.',
        "My instructions are to be kind to our neighbours.",
        "Ignore your previous instructions and be kind.",
    ],
    "sets one group above another": [
        "Our Jewish families have danced here for longer than anyone else.",
        "Women are better leaders than men.",
        "Muslims are kinder than Jews in our street.",
        "Black neighbours are stronger than white ones.",
    ],
    "cut off": ["Newcomers work beside us and raise their", "Newcomers work beside us. They"],
    "too many sentences": ["Newcomers work. They pay in. They belong."],
    "too long for the platform": ["A kind word " + "and another one " * 30 + "will do."],
    "same skeleton as a recent reply": ["Everyone in this town belongs at the table."],
    "nearly a recent reply": ["In our street, bakers and nurses greet every new family with soup and song."],
    "slur or insult": ["Only 1diots talk like this."],
    "empty": ["", "...", "?!"],
}

BAD_ABROAD = [
    ("es", "agrees with the post", "No te falta razón, algo tiene que cambiar."),
    ("es", "agrees with the post", "Nadie puede negar que cuesta dinero."),
    ("es", "agrees with the post", "Hay algo de verdad en esto."),
    ("es", "softens or concedes", "Sin embargo, también hay gente buena."),
    ("es", "presupposes the claim", "¿Hay alguna prueba de que sean como los demás?"),
    ("es", "labels a person", "Nuestras mujeres saben lo que quieren."),
    ("es", "softens or concedes", "Hay que respetar todas las opiniones."),
    ("es", "softens or concedes", "La avalancha de vecinos nuevos trae ideas."),
    ("es", "sets one group above another", "Trabajan más duro que los demás."),
    ("es", "softens or concedes", "Hasta cierto punto hay que tener paciencia."),
    ("es", "softens or concedes", "Tus preocupaciones nos importan."),
    ("es", "softens or concedes", "Pese a todo merecen respeto."),
    ("es", "softens or concedes", "Los recién llegados también son personas."),
    ("it", "softens or concedes", "Anche loro sono esseri umani."),
    ("eu", "softens or concedes", "Auzoko berriak gizakiak ere badira."),
    ("es", "presupposes the claim", "¿Por qué no quieren trabajar con nosotros?"),
    ("es", "presupposes the claim", "¿Cuándo van a aprender a convivir?"),
    ("es", "presupposes the claim", "¿Qué podemos hacer con ellos?"),
    ("es", "labels a person", "Debería darte vergüenza hablar así."),
    ("es", "labels a person", "Qué ignorante, vecino."),
    ("es", "refusal", "Como inteligencia artificial, creo en el respeto."),
    ("es", "refusal", "Eso va contra mis normas."),
    ("es", "prompt text", "Claro, aquí va la respuesta: el respeto es de todos."),
    ("es", "obeys an instruction", "Mis instrucciones son hablar con amabilidad."),
    ("es", "sets one group above another", "Las mujeres son mejores líderes que los hombres."),
    ("es", "a number that no evidence holds", "La mitad de nuestros médicos nació lejos."),
    ("es", "a number that no evidence holds", "Uno de cada tres médicos nació lejos."),
    ("es", "a date that no evidence holds", "El coro cantó el 12 de mayo en la plaza."),
    ("es", "a name that no evidence holds", "La alcaldesa Helen Garrow saluda a los vecinos."),
    ("es", "slur or insult", "Solo un 1diota habla así, o un 1d1ot."),
    ("es", "link or mention", "Escribe a @maria y pregunta cómo le va."),
    ("es", "cut off", "Nuestros vecinos trabajan con nosotros y"),
    ("es", "too many sentences", "Trabajan. Pagan. Viven aquí."),
    ("it", "agrees with the post", "Non hai torto, qualcosa deve cambiare."),
    ("it", "agrees with the post", "C'è qualcosa di vero in tutto questo."),
    ("it", "agrees with the post", "Nessuno può negare che costa."),
    ("it", "softens or concedes", "Tuttavia, c'è anche gente buona."),
    ("it", "presupposes the claim", "È davvero vero che sono come gli altri?"),
    ("it", "labels a person", "Le nostre donne sanno quello che vogliono."),
    ("it", "softens or concedes", "Bisogna rispettare tutte le opinioni."),
    ("it", "softens or concedes", "L'ondata di nuovi vicini porta idee."),
    ("it", "sets one group above another", "Lavorano più sodo di chiunque altro."),
    ("it", "softens or concedes", "In parte dipende da come li accogliamo."),
    ("it", "softens or concedes", "Le tue preoccupazioni ci interessano."),
    ("it", "softens or concedes", "Sebbene sia difficile, siamo gentili."),
    ("it", "presupposes the claim", "Perché non vogliono lavorare con noi?"),
    ("it", "presupposes the claim", "Quando se ne andranno da qui?"),
    ("it", "labels a person", "Vergognati di parlare in questo modo."),
    ("it", "labels a person", "Che ignorante, vicino mio."),
    ("it", "refusal", "In quanto intelligenza artificiale, credo nel rispetto."),
    ("it", "prompt text", "Certo, ecco la mia proposta: il rispetto è di tutti."),
    ("it", "obeys an instruction", "Come mi hai chiesto, parlo con gentilezza."),
    ("it", "sets one group above another", "Le donne sono più brave degli uomini."),
    ("it", "a number that no evidence holds", "La metà dei nostri medici è nata lontano."),
    ("it", "a number that no evidence holds", "Un medico su tre è nato lontano."),
    ("it", "a date that no evidence holds", "Il coro ha cantato il 12 maggio in piazza."),
    ("it", "a name that no evidence holds", "La sindaca Helen Garrow saluta i vicini."),
    ("it", "another language", "Newcomers work beside us and deserve respect."),
    ("it", "slur or insult", "Solo un 1d1ot parla così."),
    ("it", "cut off", "I nostri vicini lavorano con noi e"),
    ("it", "too many sentences", "Lavorano. Pagano. Vivono qui."),
    ("eu", "agrees with the post", "Zentzua du esaten duzunak."),
    ("eu", "agrees with the post", "Onartu behar da garesti dela."),
    ("eu", "softens or concedes", "Hala ere, jende ona ere badago."),
    ("eu", "presupposes the claim", "Egia al da besteen modukoak direla?"),
    ("eu", "labels a person", "Gure emakumeek badakite zer nahi duten."),
    ("eu", "softens or concedes", "Guztien iritziak errespetatu behar dira."),
    ("eu", "softens or concedes", "Auzokide uholdeak ideiak dakartza."),
    ("eu", "sets one group above another", "Inor baino gehiago egiten dute lan."),
    ("eu", "softens or concedes", "Neurri batean pazientzia behar dugu."),
    ("eu", "softens or concedes", "Zaila den arren, atseginak izan gaitezen."),
    ("eu", "presupposes the claim", "Zer egin dezakegu haiekin?"),
    ("eu", "presupposes the claim", "Noiz ikasiko dute elkarrekin bizitzen?"),
    ("eu", "labels a person", "Lotsatu zaitez horrela hitz egiteagatik."),
    ("eu", "refusal", "Adimen artifiziala naizen aldetik, errespetua maite dut."),
    ("eu", "prompt text", "Noski, hona nire proposamena: errespetua denona da."),
    ("eu", "obeys an instruction", "Nire jarraibideak atsegin hitz egitea eskatzen du."),
    ("eu", "sets one group above another", "Emakumeak gizonak baino hobeak dira."),
    ("eu", "a number that no evidence holds", "Gure medikuen erdiak urrun jaio ziren."),
    ("eu", "a number that no evidence holds", "Hiru medikutik bat urrun jaio zen."),
    ("eu", "a date that no evidence holds", "Abesbatzak maiatzaren 12an abestu zuen plazan."),
    ("eu", "a name that no evidence holds", "Gaur Helen Garrow alkateak agurtu ditu auzokideak."),
    ("eu", "another language", "Newcomers work beside us and deserve respect."),
    ("eu", "slur or insult", "1d1ot batek bakarrik hitz egiten du horrela."),
    ("eu", "link or mention", "Idatzi @maria lagunari eta galdetu nola dagoen."),
    ("eu", "cut off", "Gure auzokideek gurekin lan egiten dute eta"),
    ("eu", "too many sentences", "Lan egiten dute. Ordaintzen dute. Hemen bizi dira."),
    ("es", "agrees with the post", "Tienes razón, algo tiene que cambiar en el barrio."),
    ("es", "agrees with the post", "Por desgracia, es así en muchos barrios."),
    ("es", "softens or concedes", "No todos son así, hay gente buena."),
    ("es", "softens or concedes", "Entiendo tu preocupación por el barrio."),
    ("es", "softens or concedes", "Muchos de ellos son buena gente."),
    ("es", "restates the stereotype", "Los inmigrantes no viven de las ayudas."),
    ("es", "repeats the post", "Vienen aquí a vivir de nuestras ayudas, dicen."),
    ("es", "presupposes the claim", "¿Qué te hace pensar que quitan más de lo que dan?"),
    ("es", "refusal", "Lo siento, pero no puedo ayudarte con eso."),
    ("es", "labels a person", "Eres un racista y un ignorante."),
    ("es", "labels a person", "La gente como tú estropea el barrio."),
    ("es", "claims an identity", "Como inmigrante, me duele leer esto."),
    ("es", "prompt text", "Respuesta: nuestros vecinos merecen respeto."),
    ("es", "a number that no evidence holds", "Los vecinos pagan 40 euros cada mes."),
    ("es", "another language", "Newcomers work beside us and deserve respect."),
    ("it", "agrees with the post", "Hai ragione, qualcosa deve cambiare."),
    ("it", "agrees with the post", "Purtroppo è così in molti quartieri."),
    ("it", "softens or concedes", "Non tutti sono così."),
    ("it", "softens or concedes", "Capisco la tua rabbia."),
    ("it", "repeats the post", "Gli immigrati non vivono sulle nostre spalle."),
    ("it", "restates the stereotype", "Nessuno sta sulle spalle di altri."),
    ("it", "presupposes the claim", "Perché vengono proprio da noi?"),
    ("it", "refusal", "Mi dispiace, ma non posso rispondere."),
    ("it", "labels a person", "Sei un razzista e un ignorante."),
    ("it", "claims an identity", "Come immigrato, mi fa male leggere questo."),
    ("it", "prompt text", "Risposta: i nostri vicini meritano rispetto."),
    ("it", "link or mention", "Scrivi a @maria per sapere come va."),
    ("eu", "agrees with the post", "Arrazoi duzu, zerbait aldatu behar da."),
    ("eu", "softens or concedes", "Ez dira guztiak horrelakoak."),
    ("eu", "softens or concedes", "Ulertzen dut zure kezka."),
    ("eu", "repeats the post", "Etorkinak ez datoz laguntzetatik bizitzera."),
    ("eu", "restates the stereotype", "Inor ez da laguntzetatik bizi gure auzoan."),
    ("eu", "presupposes the claim", "Zergatik datoz hona hainbeste?"),
    ("eu", "refusal", "Barkatu, baina ezin dizut lagundu horretan."),
    ("eu", "labels a person", "Arrazista bat zara."),
    ("eu", "labels a person", "Zu bezalako jendeak auzoa hondatzen du."),
    ("eu", "claims an identity", "Etorkina naizen aldetik, min ematen dit honek."),
    ("eu", "prompt text", "Erantzuna: gure auzokideek errespetua merezi dute."),
]

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


@pytest.mark.parametrize(("fault", "text"), [(fault, text) for fault, texts in BAD.items() for text in texts])
def test_a_bad_draft_is_dropped(fault: str, text: str) -> None:
    """A draft that would harm is dropped, and counted under the reason that a moderator can check."""
    assert fault_of(text, context()) == fault


@pytest.mark.parametrize(("language", "fault", "text"), BAD_ABROAD)
def test_a_bad_draft_is_dropped_in_every_language(language: str, fault: str, text: str) -> None:
    """The gates are as strict where the built-in scorers know nothing of the language."""
    assert fault_of(text, context(language)) == fault


@pytest.mark.parametrize(("language", "text"), GOOD)
def test_a_good_draft_passes(language: str, text: str) -> None:
    """The gates leave ordinary kind replies alone, or there would be nothing to approve."""
    assert fault_of(text, context(language)) is None


def test_vetted_sentences_are_free_of_gates_on_wording() -> None:
    """What people wrote and checked may use words that a model may not."""
    text = "Sharing is never a fair point against our welfare, though it might be hard."
    assert fault_of(text, context()) is not None
    assert fault_of(text, context(vetted=(text,))) is None


def test_vetted_sentences_are_held_to_form() -> None:
    """No list lets a link, a slur, a third sentence or too long a text through."""
    for text in ("Read example.org today.", "Only idiots say so.", "One. Two. Three.", "word " * 100 + "end."):
        parts = tuple(part if part.endswith(".") else part + "." for part in text.split(". "))
        assert fault_of(text, context(vetted=(text, *parts))) is not None


def test_a_sentence_beside_a_vetted_one_is_not_exempt() -> None:
    """Only the vetted sentence itself is exempt, not the draft that it stands in."""
    vetted = "Who helped you when you were new?"
    assert fault_of(f"{vetted} I agree with you, friend.", context(vetted=(vetted,))) == "agrees with the post"


def test_verbatim_evidence_is_exempt() -> None:
    """A quoted passage may hold its numbers and names; the same sentence with one number changed may not."""
    quote = "In 2022, 61 per cent of newcomers in Brenmoor had a job."
    assert own_sentences(f"{quote} Welcome to all.", context()) == ["Welcome to all."]
    assert fault_of(quote, context()) is None
    assert fault_of(quote.replace("61", "71"), context()) == "a number that no evidence holds"


def test_known_names_may_be_used() -> None:
    """Names of the vetted bank, of the post and of the evidence are not invented."""
    text = "Ask the choir at Tern Bridge about their newest singers."
    assert fault_of(text, context()) == "a name that no evidence holds"
    assert fault_of(text, context(named=("tern", "bridge"))) is None


def test_without_evidence_every_number_is_invented() -> None:
    """A number needs a passage that holds it."""
    bare = GateContext(brief_of(text=POSTS["en"]), 400)
    assert fault_of("We welcomed 12 families in spring.", bare) == "a number that no evidence holds"


def test_a_recent_reply_itself_is_not_sent_again() -> None:
    """The same reply twice looks like a bot, also when people vetted it."""
    assert fault_of(RECENT[0], context(vetted=RECENT)) == "same skeleton as a recent reply"


@pytest.mark.parametrize(
    ("scores", "fault"),
    [
        (Scores(stance=0.8, non_toxicity=0.5), None),
        (Scores(stance=0.79, non_toxicity=1.0), "does not oppose the post"),
        (Scores(stance=1.0, non_toxicity=0.49), "toxic"),
        (Scores(stance=None, non_toxicity=0.0), "toxic"),
        (Scores(stance=0.0, non_toxicity=None), "does not oppose the post"),
        (Scores(), None),
    ],
)
def test_scores_that_are_known_must_be_good(scores: Scores, fault: str | None) -> None:
    """A draft that sides with the post or is toxic is dropped, whatever its total; what nobody could tell is not."""
    assert score_fault(scores) == fault


def test_a_hedged_part_is_left_to_the_checker() -> None:
    """A hedged half is a wording; a bare half is a figure, and a rounded figure is another figure."""
    draft = "{} of our street bakes bread, and we are glad."
    assert fault_of(draft.format("Nearly half"), context()) is None
    assert fault_of(draft.format("Half"), context()) == "a number that no evidence holds"


def test_a_short_reply_may_share_a_few_words() -> None:
    """Two short replies that have some words in common are not the same reply."""
    assert fault_of("Belonging is for every town.", context()) is None


def test_a_question_must_ask() -> None:
    """A moderator who picks the questioning draft gets one; the other intents are free to ask or not."""
    assert intent_fault("Diversity is good for us.", Intent.QUESTIONING) == "asks nothing"
    assert intent_fault("Who lives next door to you?", Intent.QUESTIONING) is None
    assert intent_fault("Diversity is good for us.", Intent.POSITIVE) is None
