"""What people do in groups on the fake Telegram while processes are killed, and the cases that must come of it.

Owns both. Each deed is one of a kind, by chance: talk, hateful words, a command, a reaction, a forwarded post, an edit.
"""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from core.desk.communities.governance import Governance
from core.desk.communities.native_roles import LiveRoles
from core.desk.database.connection import Database, Session
from core.desk.rules.roles import Person, Role
from core.desk.schema import CaseRow
from core.desk.store import communities, people
from tests.fakes.telegram.server.state import JSON
from tests.fakes.telegram.town import TelegramTown

_GROUPS: Final = 3
_REACTION: Final = "👎"
Place = tuple[str, str]
"""A community and the number of a message, or of words, in it."""


@dataclass
class Cases:
    """How many cases are there, and how many are not as they must be.

    Attributes:
        lost: posts that must have a case and have none, and edits of which the case does not know.
        extra: cases of what nobody flagged.
        twice: forwarded posts that became a case of the post and one of their words: the process that was killed knew
            the post, the next one did not.
        unheard: reactions to posts that the process had not heard, of which nothing comes.
        kinds: how the posts came to their cases.
    """

    count: int = 0
    lost: list[str] = field(default_factory=list)
    extra: list[str] = field(default_factory=list)
    twice: int = 0
    unheard: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


class TelegramTalk:
    """Three watched groups with a flag reaction; in each one author and one volunteer."""

    def __init__(self, town: TelegramTown, chance: random.Random) -> None:
        self._town, self._chance = town, chance
        self._authors = [town.add_user(f"Author {number}") for number in range(_GROUPS)]
        self._volunteers = [town.add_user(f"Volunteer {number}") for number in range(_GROUPS)]
        self._groups = [
            town.add_group(f"Town {number}", members=both, bot="administrator")
            for number, both in enumerate(zip(self._authors, self._volunteers, strict=True))
        ]
        self._said = 0
        self._must, self._may, self._edited = dict[Place, str](), dict[Place, str](), dict[Place, str]()
        self._forwarded: list[tuple[Place, Place]] = []
        self._deeds: tuple[Callable[[int], object], ...] = (
            *(self._talk, self._hate, self._edit, self._edit_into_hate),
            *(self._command, self._whisper, self._react, self._forward, self._forward_from_elsewhere),
        )

    async def set_up(self, database: Database) -> None:
        """Let each group be watched, and have a flag reaction; let its volunteer flag, and be answered in private."""
        governance = Governance(database, LiveRoles(database, {}))
        for group, volunteer in zip(self._groups, self._volunteers, strict=True):
            wanted = {"watched_channels": (str(group),), "reaction": _REACTION, "review_channel": "-1009"}
            await governance.configure("telegram", str(group), wanted, Person("telegram", "1"), is_owner=True)
            await database.run("let flag", partial(_let_flag, group=str(group), volunteer=volunteer))
            self._town.start(volunteer)

    def go_on(self, deeds: int) -> None:
        """Let people do so much."""
        for _ in range(deeds):
            self._chance.choice(self._deeds)(self._chance.randrange(_GROUPS))

    def look(self, rows: Sequence[CaseRow]) -> Cases:
        """Compare the cases with what must have come of all that people did."""
        cases = {(row.community, row.message): row for row in rows}
        found = Cases(len(rows), kinds=Counter(row.flagged_how for row in rows))
        found.lost = [f"{kind} {place}" for place, kind in self._must.items() if place not in cases]
        found.unheard = sum(place not in cases for place in self._may)
        for place in self._edited:
            if place in cases and "they are welcome" not in cases[place].text:
                found.lost.append(f"the edit of {place}")
        for both in self._forwarded:
            made = sum(place in cases for place in both)
            found.twice += made == len(both)
            found.lost += [f"forwarded {both}"] if made == 0 else []
        known = {*self._must, *self._may, *(place for both in self._forwarded for place in both)}
        found.extra = [str(place) for place in cases if place not in known]
        return found

    # What people do

    def _say(self, group: int, words: str) -> JSON:
        self._said += 1
        return self._town.say(self._authors[group], self._groups[group], f"{words}, {self._said}")

    def _talk(self, group: int) -> None:
        self._say(group, "good morning")

    def _hate(self, group: int) -> JSON:
        post = self._say(group, "they are vermin")
        self._must[_place(post)] = "found"
        return post

    def _command(self, group: int) -> None:
        post = self._say(group, "go home")
        self._must[_place(post)] = "/counter"
        self._town.command(self._volunteers[group], self._groups[group], "counter", reply_to=post)

    def _whisper(self, group: int) -> None:
        post = self._say(group, "go home")
        self._must[_place(post)] = "ephemeral /counter"
        self._town.whisper(self._volunteers[group], self._groups[group], "/counter@antiphon_bot", reply_to=post)

    def _react(self, group: int) -> None:
        post = self._say(group, "go home")
        self._may[_place(post)] = "reaction"
        self._town.react(self._volunteers[group], post, _REACTION)

    def _forward(self, group: int) -> None:
        post = self._say(group, "go home")
        self._forwarded.append((_place(post), self._words(group, self._town.forward(self._volunteers[group], post))))

    def _forward_from_elsewhere(self, group: int) -> None:
        stranger = self._town.add_user()
        post = self._town.say(stranger, self._town.add_group(bot=None), f"go home, {stranger}")
        self._must[self._words(group, self._town.forward(self._volunteers[group], post))] = "words from elsewhere"

    def _edit(self, group: int) -> None:
        post = self._hate(group)
        self._edited[_place(post)] = "edited"
        self._town.edit(post, f"they are welcome, {self._said}")

    def _edit_into_hate(self, group: int) -> None:
        post = self._say(group, "good morning")
        self._must[_place(post)] = "edited into hate"
        self._town.edit(post, f"they are vermin, {self._said}")

    def _words(self, group: int, message: JSON) -> Place:
        """How the words of a message in a private chat are named, as a post from elsewhere."""
        return str(self._groups[group]), f"words-{message['chat']['id']}-{message['message_id']}"


def _place(message: JSON) -> Place:
    return str(message["chat"]["id"]), str(message["message_id"])


async def _let_flag(session: Session, group: str, volunteer: int) -> None:
    community = await communities.ensure(session, "telegram", group)
    await people.grant(session, community.id, Person("telegram", str(volunteer)), {Role.VOLUNTEER}, by="test")
