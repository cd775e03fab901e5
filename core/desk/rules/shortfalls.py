"""What a suggestion lacks, in words for the people who review a case.

Each note of the engine (``Suggestion.degraded``) has a sentence for people here. A note without one stays out of cards
and reasons: the terminal, its JSON and the log have all of them, as the engine says them.
"""

from collections.abc import Sequence
from typing import Final

from core.i18n.sentences import Said, Sentence, joined, sentence
from core.models import Action, Suggestion

_MODEL: Final = sentence(
    "The language model gave no usable answer to a part; what ships with Antiphon stands in for it. "
    "You can ask for other drafts later."
)
_UNREAD: Final = sentence("Antiphon does not read this language well: look yourself whether the post is hateful.")
_NO_EVIDENCE: Final = sentence("No evidence bears on this; the drafts state no facts.")
_LIBRARY: Final = sentence("The library of evidence could not be used as a whole.")
_TOLD: Final = {
    "claims: no draft argues the claim that was chosen": sentence("No draft argues the claim that was chosen."),
    "claims: the model wrote no claim ({why}); prepared claims are used": _MODEL,
    "drafts: no reply is free of doubt; silence may serve better": sentence(
        "No reply is free of doubt; silence may serve better."
    ),
    "drafts: the model wrote no draft ({why})": _MODEL,
    "drafts: the model wrote {wrote} of {wanted} drafts ({why})": _MODEL,
    "drafts: the model wrote no draft with the evidence ({why})": _MODEL,
    "drafts: whether some are fit to be posted was not asked ({why})": _MODEL,
    "evidence: a part of the knowledge base was left out ({why})": _LIBRARY,
    "evidence: there is none, since the knowledge base is unavailable ({why})": _LIBRARY,
    "evidence: no passage bears on the claim; the drafts state no facts": _NO_EVIDENCE,
    "evidence: no passage is left; the drafts state no facts": _NO_EVIDENCE,
    "gates: drafts dropped: {count} ({faults})": sentence("Drafts that broke a rule of Antiphon are not shown."),
    "post: the post tries to give the model instructions; they are read as text and not followed": sentence(
        "The post tries to give the model instructions; they are not followed."
    ),
    "post: {count} control or bidirectional characters were taken out": sentence(
        "Characters that nobody sees were taken out of the post."
    ),
    "reading: no target group was recognised; the drafts stand up for people in general": sentence(
        "Whom the post attacks was not recognised; the drafts stand up for people in general."
    ),
    "reading: the model did not read the post ({why}); the small readers read it": _MODEL,
    "reading: the model did not say whether the post is {what}": _MODEL,
    "reading: whether the post is {what} was not asked ({why})": _MODEL,
    "reading: the post's language was not recognised": sentence("The language of the post was not recognised."),
    "reading: the small reader does not know {language}, and no language model said whether the post is hateful; only "
    "rules looked at it": _UNREAD,
    "reading: the small reader is not good enough in {language} by itself; whether the post is hateful was read with "
    "the language model, threats and attacks on one person by words alone": _UNREAD,
    "reading: the small reader does not know {language}; what the post does is the language model's word alone": (
        _UNREAD
    ),
    "review: the drafts were not reviewed ({why})": _MODEL,
    "support: each prepared word of support is too long here, or breaks a rule of the community": sentence(
        "No prepared word of support can be used: each is too long here, or holds a word that this community forbids."
    ),
    "support: the model wrote no words of support ({why})": _MODEL,
}


def for_people(notes: Sequence[Said]) -> tuple[Sentence, ...]:
    """The notes that people read, each once, in their order."""
    sentences = []
    for note in notes:
        template, values = (note.template, note.values) if isinstance(note, Sentence) else (str(note), {})
        if template in _TOLD:
            sentences.append(_TOLD[template])
        elif template == "drafts: they are written in the community's language ({language})":
            sentences.append(sentence("The drafts are written in the community's language ({language}).", **values))
        elif (
            template == "drafts: no prepared reply surely fits; of the likeliest of them readers would publish {share}"
        ):
            sentences.append(
                sentence(
                    "Antiphon is not sure that any prepared reply fits: readers would publish about {share} of the "
                    "likeliest ones. They are shown if you ask for drafts again.",
                    **values,
                )
            )
        elif template == "gates: drafts dropped for a word that the community forbids: {count} ({faults})":
            sentences.append(
                sentence(
                    "Drafts that hold a word which this community forbids are not shown: {count}.",
                    count=values["count"],
                )
            )
        elif template == "evidence: nothing by {publishers} bears on the claim; all publishers were searched":
            sentences.append(sentence("Nothing by {publishers} bears on this; all publishers were searched.", **values))
    return tuple(dict.fromkeys(sentences))


def why_no_draft(suggestion: Suggestion) -> Sentence:
    """Why there is no draft, in words for people: the advice where it is one, else what was missing."""
    if suggestion.reading.recommended_action is Action.REPORT:
        return sentence("No draft is made: report the post, and do not debate it.")
    if suggestion.reading.recommended_action is Action.STAY_SILENT:
        return sentence("No draft is made: it is better to leave the post without a reply.")
    return joined(sentence("Antiphon has no draft to offer."), *for_people(suggestion.degraded))
