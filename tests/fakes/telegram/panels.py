"""People who manage a group from their private chats with the bot, and what they see there."""

from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.telegram.server.state import JSON
from tests.fakes.telegram.wire import TelegramWire


class PanelTown:
    """A group with an owner, a moderator who may delete messages, and a member; another group for review."""

    def __init__(self, wire: TelegramWire, governance: FakeGovernance) -> None:
        self.wire, self.governance = wire, governance
        self.server, self.town = wire.server, wire.town
        self.owner = self.town.add_user("Odile")
        self.moderator = self.town.add_user("Mirren")
        self.member = self.town.add_user("Ned")
        self.group = self.town.add_group(
            "Brenmoor", owner=self.owner, admins=(self.moderator,), members=(self.member,), bot="administrator"
        )
        self.review = self.town.add_group("Moderators", owner=self.owner, members=(self.moderator,))
        for user in (self.owner, self.moderator, self.member):
            self.town.say(user, None, "Hello.")

    async def command(self, user: int, words: str, chat: int | None = None) -> None:
        """Somebody gives a command, in their private chat if no other is named."""
        self.town.command(user, chat, words)
        await self.wire.hear()

    async def press(self, user: int, label: str) -> None:
        """Somebody presses a button of the last message that has it in their private chat; it stops waiting."""
        found = [each for each in self.town.of_bot(user) if label in " ".join(labels_of(each))]
        rows = found[-1]["reply_markup"]["inline_keyboard"]
        data = next(button["callback_data"] for row in rows for button in row if label in button["text"])
        query = self.town.press(user, found[-1], data)
        await self.wire.hear()
        assert self.town.answer_to(query) is not None

    async def answer(self, user: int, text: str) -> None:
        self.town.say(user, None, text, reply_to=self.town.of_bot(user)[-1])
        await self.wire.hear()

    def seen(self, user: int) -> JSON:
        """The last message of the bot in somebody's private chat."""
        return self.town.of_bot(user)[-1]

    def text(self, user: int) -> str:
        return str(self.seen(user)["text"])


def labels_of(message: JSON) -> list[str]:
    return [button["text"] for row in message.get("reply_markup", {}).get("inline_keyboard", []) for button in row]


def links_of(message: JSON) -> list[str]:
    rows = message.get("reply_markup", {}).get("inline_keyboard", [])
    return [button["url"] for row in rows for button in row if "url" in button]
