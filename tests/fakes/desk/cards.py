"""A card of a community's own, on a stereotype that it described."""

from typing import Any

from core.desk.rules.own_cards import WrittenCard, checked_card
from core.engine.cards.bank import prepared_id

REPLY = "The families on the hill are our neighbours, and neighbours share."
REPLY_ID = prepared_id("en", REPLY)
GIST = "the families on the hill take the water"
ROW: dict[str, Any] = {
    "id": "water",
    "language": "en",
    "argument": "The water is for everybody who lives here.",
    "no_fact": "needs none",
    "own_stereotype": {
        "group": "migrants",
        "gist": GIST,
        "wordings": [
            "Since the hill people came there is no water left for us.",
            "They up there on the hill drink our wells dry.",
            "Our water goes up the hill to people who have no right to it.",
        ],
    },
    "replies": {"positive": [REPLY]},
}
CLOSE_POST = "The hill migrants steal our water, these thieves drink our wells dry."
MILD_POST = "There was more water in our wells before the hill people came."
"""Close, too, but the reader of posts does not take it for hateful."""


def card_of(**changes: object) -> WrittenCard:
    return checked_card(ROW | changes, facts=())
