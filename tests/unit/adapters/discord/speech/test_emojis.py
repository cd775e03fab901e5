"""What one emoji is, and when two are the same."""

from __future__ import annotations

import discord
import pytest

from adapters.discord.speech.emojis import is_emoji, is_same


@pytest.mark.parametrize(
    "text", ["🚩", "⚠️", "⚠", "👩🏽‍🚒", "🇪🇺", "1️⃣", "‼️", "❤️‍🔥", "<:flag:1234567890123456>", "<a:wave:1234567890123456>"]
)
def test_one_emoji_is_one_however_many_characters_it_takes(text: str) -> None:
    """Skin tones, families, flags of countries, key caps and a server's own."""
    assert is_emoji(text)


@pytest.mark.parametrize("text", ["", "flag", "🚩🚩", "🚩 🚩", "<:flag:x>", "a🚩", "1", "🇪🇺🇪🇺", ":flag:", "\u200d"])
def test_words_and_several_emoji_are_not_one(text: str) -> None:
    """Nobody can react with them."""
    assert not is_emoji(text)


def test_a_reaction_is_the_same_whether_drawn_as_picture_or_text_and_however_a_servers_own_is_called() -> None:
    """Phones send one form, people paste the other; emoji of servers are renamed."""
    assert is_same(discord.PartialEmoji.from_str("⚠️"), "⚠")
    assert is_same(discord.PartialEmoji.from_str("<:new:1234567890123456>"), "<:old:1234567890123456>")
    assert not is_same(discord.PartialEmoji.from_str("<:flag:1234567890123456>"), "<:flag:6543210987654321>")
    assert not is_same(discord.PartialEmoji.from_str("🚩"), "")
    assert not is_same(discord.PartialEmoji.from_str("🚩"), "<:flag:6543210987654321>")
