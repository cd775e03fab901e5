"""Links to messages, as people copy them from Discord."""

import pytest

from adapters.discord.capture import MessageLink, message_link


@pytest.mark.parametrize(
    "text",
    [
        "https://discord.com/channels/1/22/333",
        " https://ptb.discord.com/channels/1/22/333 ",
        "<https://canary.discordapp.com/channels/1/22/333/>",
        "https://discord.com/channels/1/22/333?jump=1",
    ],
)
def test_a_link_to_a_message_is_recognised_in_every_form_that_discord_copies(text: str) -> None:
    """Phones, desktop programs and test versions of Discord write it differently."""
    assert message_link(text) == MessageLink(1, 22, 333)


def test_a_link_to_a_direct_message_names_no_server() -> None:
    """So that it can be refused with a reason."""
    assert message_link("https://discord.com/channels/@me/22/333") == MessageLink(None, 22, 333)


@pytest.mark.parametrize(
    "text",
    [
        "look at https://discord.com/channels/1/22/333",
        "https://discord.com/channels/1/22",
        "https://discord.com.example.org/channels/1/22/333",
        "https://example.org/channels/1/22/333",
        "https://discord.com/channels/1/22/" + "3" * 21,
        "",
    ],
)
def test_words_and_other_addresses_are_no_link(text: str) -> None:
    assert message_link(text) is None
