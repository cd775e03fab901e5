"""Messages as Telegram sends them, read by the library."""

from typing import Any, Final

from telegram import Message

GROUP: Final = {"id": -1001, "type": "supergroup", "title": "Brenmoor"}
BO: Final = {"id": 5, "is_bot": False, "first_name": "Bo", "last_name": "Lund"}


def message(number: int = 1, text: str | None = "they are vermin", **more: Any) -> Message:
    """A message of Bo's in the group, with other fields as Telegram names them; without ``text`` it has none."""
    sent: dict[str, Any] = {"message_id": number, "date": 1_700_000_000 + number, "chat": GROUP, "from": BO}
    return Message.de_json(sent | ({} if text is None else {"text": text}) | more, None)
