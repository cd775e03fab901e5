"""Six posts on the border that a community's settings are tested with: what managers want, and what would happen.

All posts are invented, in the languages that people are spoken to in. People who moderate may well decide
otherwise about each; none holds a slur or names anybody.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from adapters.common.manage.panels import PanelChoice
from adapters.web.last_week import finds
from core.desk.rules.careful_watch import FindLabel
from core.desk.rules.policy import CommunityPolicy, Judgement
from core.engine.ports import HateDetector
from core.i18n.catalogs import gettext

_FIELD: Final = "judged_"
BORDERLINE: Final[Mapping[str, Mapping[str, str]]] = {
    "flats": {
        "en": "Is it true that all the new flats by the station go to foreigners? That is what people say.",
        "es": "¿Es verdad que todos los pisos nuevos junto a la estación son para extranjeros? Eso dice la gente.",
        "it": "È vero che tutti gli appartamenti nuovi vicino alla stazione vanno agli stranieri? La gente dice così.",
        "eu": "Egia al da geltoki ondoko etxe berri guztiak atzerritarrentzat direla? Jendeak hori dio.",
    },
    "parking": {
        "en": "My sister-in-law has parked across two places again. Women drivers, what can you do.",
        "es": "Mi cuñada ha vuelto a aparcar en dos plazas. Mujeres al volante, qué le vamos a hacer.",
        "it": "Mia cognata ha di nuovo parcheggiato su due posti. Donne al volante, che ci vuoi fare.",
        "eu": "Nire koinatak bi leku hartu ditu berriro autoa uztean. Emakumeak gidari, zer egingo diogu.",
    },
    "school": {
        "en": "Religion has no place in a public school, neither crosses nor headscarves.",
        "es": "La religión no pinta nada en la escuela pública, ni cruces ni velos.",
        "it": "La religione non c'entra con la scuola pubblica, né croci né veli.",
        "eu": "Erlijioak ez du lekurik eskola publikoan, ez gurutzeek ez zapiek.",
    },
    "wall": {
        "en": "Somebody has written on the wall that gays should leave the town. I am ashamed of it.",
        "es": "Alguien ha escrito en la pared que los gais se vayan del pueblo. Me da vergüenza.",
        "it": "Qualcuno ha scritto sul muro che i gay se ne devono andare dal paese. Me ne vergogno.",
        "eu": "Norbaitek horman idatzi du gayek herritik joan behar dutela. Lotsa ematen dit.",
    },
    "pool": {
        "en": "The council spends more on interpreters than on the swimming pool. That has to end.",
        "es": "El ayuntamiento gasta más en intérpretes que en la piscina. Eso se tiene que acabar.",
        "it": "Il comune spende più per gli interpreti che per la piscina. Deve finire.",
        "eu": "Udalak gehiago gastatzen du interpreteetan igerilekuan baino. Hori amaitu egin behar da.",
    },
    "food": {
        "en": "They come here, they are given everything, and then they complain about our food.",
        "es": "Vienen aquí, se les da todo y luego se quejan de nuestra comida.",
        "it": "Vengono qui, ricevono tutto e poi si lamentano del nostro cibo.",
        "eu": "Hona etortzen dira, dena ematen zaie, eta gero gure janariaz kexatzen dira.",
    },
}
"""The text of each post by its id and by language."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What would happen to a post in a watched channel, in words, and whether managers want that."""

    words: str
    is_wanted: bool


def choices(policy: CommunityPolicy, locale: str) -> tuple[PanelChoice, ...]:
    """The posts in a language, each with what was decided about it."""
    rows = (
        ("", gettext("not decided", locale)),
        (Judgement.ANSWER.value, gettext("we would answer it", locale)),
        (Judgement.LEAVE.value, gettext("we would leave it", locale)),
    )
    return tuple(
        PanelChoice(f"{_FIELD}{id_}", texts[locale], rows=rows, chosen=(policy.judged.get(id_, ""),), least=1)
        for id_, texts in BORDERLINE.items()
    )


def judgements_of(chosen: Mapping[str, tuple[str, ...]]) -> dict[str, Judgement]:
    """What was decided, by the values that were chosen in ``choices``."""
    values = {id_: chosen[f"{_FIELD}{id_}"][0] for id_ in BORDERLINE}
    return {id_: Judgement(value) for id_, value in values.items() if value}


async def outcomes(
    policy: CommunityPolicy, detector: HateDetector | None, labels: Sequence[FindLabel], locale: str
) -> dict[str, Outcome]:
    """What would happen to each post that was decided about, in a language, by the field of its choice.

    Args:
        labels: what moderators said of finds, which moves how sure the filter must be.

    Raises:
        AntiphonError: the filter cannot be loaded.
    """
    told = dict[str, Outcome]()
    for id_, texts in BORDERLINE.items():
        if id_ in policy.judged:
            is_found = await finds(texts[locale], policy, detector, labels)
            is_answered = policy.judged[id_] is Judgement.ANSWER
            told[f"{_FIELD}{id_}"] = Outcome(_in_words(is_found, is_answered, locale), is_found is is_answered)
    return told


def _in_words(is_found: bool, is_answered: bool, locale: str) -> str:
    if is_found and is_answered:
        return gettext("It would be found in a watched channel, as you want.", locale)
    if is_found:
        return gettext("It would be found in a watched channel, but you would leave it.", locale)
    if is_answered:
        return gettext("It would not be found, but you would answer it: somebody would have to flag it.", locale)
    return gettext("It would not be found, as you want.", locale)
