"""Replies that are posted over the wire: what each request says, and what Telegram's answers to it come to."""

import pytest

from core.errors import AmbiguousSend, NeverShownAgain, PlatformBusy, PlatformUnavailable
from core.models import PostRef
from tests.conformance import reply_to
from tests.fakes.machine.clock import outlasting
from tests.fakes.telegram.server import sending
from tests.fakes.telegram.server.server import TelegramServer
from tests.fakes.telegram.wire import TelegramWire

WORDS = "We all live here."


# What a request says


async def test_a_reply_has_no_markup_no_preview_and_no_second_place(wire: TelegramWire) -> None:
    """The request itself says so; without the post it answers, Telegram refuses it."""
    ref = wire.written()
    await wire.platform.post(reply_to(ref, "See <b>this</b>: https://fra.europa.eu/en"))
    (asked,) = wire.server.asked("sendMessage")
    assert asked.pop("reply_parameters") == {
        "message_id": int(ref.message),
        "allow_sending_without_reply": False,
    }
    assert asked.pop("link_preview_options") == {"is_disabled": True}
    assert asked == {"chat_id": wire.group, "text": "See <b>this</b>: https://fra.europa.eu/en"}


async def test_a_reply_in_a_topic_stands_in_it(wire: TelegramWire) -> None:
    """The topic is named, so that Telegram can refuse where it is gone or closed."""
    wire.group = wire.town.add_group("Forum", forum=True)
    topic = wire.town.add_topic(wire.group)
    ref = wire.written(topic=topic)
    posted = await wire.platform.post(reply_to(ref, WORDS))
    assert posted.ref.channel == f"{wire.group}/{topic}"
    assert wire.server.asked("sendMessage")[0]["message_thread_id"] == topic
    assert wire.replies(ref)[0]["message_thread_id"] == topic
    wire.town.close_topic(wire.group, topic)
    with pytest.raises(PlatformUnavailable):
        await wire.platform.post(reply_to(ref, WORDS, "approval-2"))
    assert wire.standing(ref) == [WORDS]


@pytest.mark.parametrize("text", [" spaced", "spaced\n", "one\r\ntwo", "Read \u202ethis", "\U0001f680" * 2049])
async def test_what_telegram_would_change_is_refused_before(wire: TelegramWire, text: str) -> None:
    """What stands there must be what was approved, to the byte; an emoji counts twice."""
    ref = wire.written()
    with pytest.raises(PlatformUnavailable) as caught:
        await wire.platform.post(reply_to(ref, text))
    assert caught.value.remedy
    assert wire.server.asked("sendMessage") == []


# The quote above it


async def test_a_reply_stands_below_the_quote_that_was_approved(wire: TelegramWire) -> None:
    """Byte for byte, without markup: both the text and the words of the post."""
    ref = wire.written("I see it in my street, <b>they</b> all do it.")
    await wire.platform.post(reply_to(ref, WORDS, quote="see it in my street"))
    (asked,) = wire.server.asked("sendMessage")
    assert asked["reply_parameters"] == {
        "message_id": int(ref.message),
        "allow_sending_without_reply": False,
        "quote": "see it in my street",
    }
    assert "parse_mode" not in asked
    (shown,) = wire.replies(ref)
    assert (shown["text"], shown["quote"]["text"]) == (WORDS, "see it in my street")
    assert not shown.get("entities")


async def test_a_post_that_was_edited_unheard_gets_no_reply(wire: TelegramWire) -> None:
    """Telegram compares the quote, so that nothing is posted under other words; a person reads why."""
    ref = wire.written("I see it in my street.")
    post = wire.message(ref)
    assert post is not None
    wire.town.edit(post, "What a lovely day in my street.")
    with pytest.raises(PlatformUnavailable, match="The post was edited") as caught:
        await wire.platform.post(reply_to(ref, WORDS, quote="see it in my street"))
    assert not isinstance(caught.value, PlatformBusy)
    assert "Read it again." in caught.value.remedy
    assert wire.standing(ref) == []
    assert len(wire.server.asked("sendMessage")) == 1


@pytest.mark.parametrize("shown", ["in my", ""])
async def test_a_reply_that_stands_below_another_quote_is_a_case_for_a_person(
    wire: TelegramWire, monkeypatch: pytest.MonkeyPatch, shown: str
) -> None:
    """As with a text that Telegram shows otherwise: it is there, and not as it was approved."""
    ref = wire.written("I see it in my street.")
    quote = {"text": shown, "position": 0, "is_manual": True}
    monkeypatch.setattr(sending, "_quoted", lambda *_: quote)
    with pytest.raises(AmbiguousSend, match="otherwise than it was approved"):
        await wire.platform.post(reply_to(ref, WORDS, quote="see it in my street"))
    assert wire.standing(ref) == [WORDS]


@pytest.mark.parametrize(("is_manual", "is_fine"), [(True, False), (False, True)])
async def test_only_a_quote_that_somebody_chose_counts(
    wire: TelegramWire, monkeypatch: pytest.MonkeyPatch, is_manual: bool, is_fine: bool
) -> None:
    """What Telegram cites by itself says which post is answered, as it does above any reply."""
    ref = wire.written("I see it in my street.")
    in_thread = sending.in_thread
    quote = {"text": "I see it", "position": 0} | ({"is_manual": True} if is_manual else {})
    monkeypatch.setattr(sending, "in_thread", lambda *where: in_thread(*where) | {"quote": quote})
    if is_fine:
        await wire.platform.post(reply_to(ref, WORDS))
        return
    with pytest.raises(AmbiguousSend):
        await wire.platform.post(reply_to(ref, WORDS))


# What an answer comes to


async def test_an_edited_post_cannot_be_read_and_is_not_said_to_stand(wire: TelegramWire) -> None:
    """Nobody can ask Telegram; no request goes out that pretends to."""
    ref = wire.written()
    asked = len(wire.server.requests)
    with pytest.raises(NeverShownAgain):
        await wire.platform.read(ref)
    with pytest.raises(PlatformUnavailable) as caught:
        await wire.platform.find_reply(reply_to(ref, WORDS))
    assert caught.value.remedy
    assert len(wire.server.requests) == asked


async def test_a_send_that_never_ends_is_ambiguous(wire: TelegramWire) -> None:
    """A call has its time; it arrived here, and nobody can tell."""
    ref = wire.written()
    wire.server.fault("sendMessage", "timeout")
    with pytest.raises(AmbiguousSend):
        await outlasting(wire.platform.post(reply_to(ref, WORDS)), 15, lambda: wire.standing(ref))
    assert wire.standing(ref) == [WORDS]
    assert len(wire.server.asked("sendMessage")) == 1


async def test_where_nobody_answers_nothing_was_posted(wire: TelegramWire) -> None:
    """Without a connection no byte went out: it may be tried again, and is posted once then."""
    ref = wire.written()
    wire.server.refuse()
    with pytest.raises(PlatformBusy):
        await wire.platform.post(reply_to(ref, WORDS))
    await wire.server.accept()
    await wire.platform.post(reply_to(ref, WORDS))
    assert wire.standing(ref) == [WORDS]
    assert len(wire.server.asked("sendMessage")) == 1


@pytest.mark.parametrize("ref", [PostRef("telegram", "-1001", "-1001", "0"), PostRef("discord", "1", "1", "1")])
async def test_what_names_no_message_is_never_answered(wire: TelegramWire, ref: PostRef) -> None:
    """An ephemeral message has the number 0; a reply to it could only be a public message under nothing."""
    for call in (wire.platform.post(reply_to(ref, WORDS)), wire.platform.retract(ref)):
        with pytest.raises(PlatformUnavailable):
            await call
    assert wire.server.asked("sendMessage") == []


# Taking back


async def test_a_reply_can_be_taken_back_for_two_days(wire: TelegramWire) -> None:
    """Later Telegram lets no bot delete its own message; that is certain, and a person can."""
    ref = wire.written()
    posted = await wire.platform.post(reply_to(ref, WORDS))
    wire.town.wait(48 * 3600)
    with pytest.raises(PlatformUnavailable) as caught:
        await wire.platform.retract(posted.ref)
    assert not isinstance(caught.value, PlatformBusy)
    assert caught.value.remedy == "Delete it by hand."
    assert wire.standing(ref) == [WORDS]


async def test_an_administrator_takes_back_its_own_words_only(server: TelegramServer, wire: TelegramWire) -> None:
    """It could delete anybody's message; Telegram is asked first whose it is."""
    wire.group = wire.town.add_group("Guarded", bot="administrator")
    ref = wire.written()
    posted = await wire.platform.post(reply_to(ref, WORDS))
    with pytest.raises(PlatformUnavailable):
        await wire.platform.retract(ref)
    assert wire.message(ref) is not None
    assert server.asked("deleteMessage") == []
    await wire.platform.retract(posted.ref)
    assert wire.standing(ref) == []


@pytest.mark.parametrize("kind", ["5xx", "drop"])
async def test_who_cannot_ask_whose_it_is_deletes_nothing(wire: TelegramWire, kind: str) -> None:
    """The question changes nothing, so the reply certainly stands and is taken back later."""
    ref = wire.written()
    posted = await wire.platform.post(reply_to(ref, WORDS))
    wire.server.fault("editMessageReplyMarkup", kind)
    with pytest.raises(PlatformBusy):
        await wire.platform.retract(posted.ref)
    assert wire.server.asked("deleteMessage") == []
    await wire.platform.retract(posted.ref)
    assert wire.standing(ref) == []
