"""Posts that a flag reaction or an alert of AutoMod points at, in SimCord."""

import discord
import simcord

from core.desk.rules.policy import CommunityPolicy
from core.models import Priority
from tests.fakes.discord.town import HATE, READS_MESSAGES, Town


async def alert(env: simcord.Env, town: Town, message: discord.Message | None, trigger: int = 1) -> None:
    """AutoMod says that a rule fired; without a message it took it away. SimCord never names the message itself."""
    payload = {
        "guild_id": town.community,
        "action": {"type": 2, "metadata": {"channel_id": str(town.review.id)}},
        "rule_id": "77",
        "rule_trigger_type": trigger,
        "user_id": str(town.author.id),
        "channel_id": str(town.square.id),
        "content": HATE,
        "matched_keyword": "vermin",
        "matched_content": "vermin",
    }
    if message is not None:
        payload["message_id"] = str(message.id)
    env.backend.emit("AUTO_MODERATION_ACTION_EXECUTION", payload)
    await env.settle()


# The flag reaction


@READS_MESSAGES
async def test_the_flag_reaction_of_who_may_flag_offers_the_post(town: Town) -> None:
    """Another emoji, or another person's, does nothing."""
    town.governance.policies[town.community] = CommunityPolicy(reaction="🚩")
    post = await town.author.send(town.square, HATE)
    await town.volunteer.react(post, "👍")
    await town.stranger.react(post, "🚩")
    assert town.desk.flagged == []
    await town.volunteer.react(post, "🚩")
    [found] = town.desk.flagged
    assert (found.text, found.flagged_by, found.flagged_how) == (HATE, str(town.volunteer.id), "reaction")
    assert found.priority is Priority.FLAGGED


async def test_without_the_intent_nothing_is_watched(town: Town) -> None:
    """Reactions, AutoMod and watched channels need Discord to show words."""
    town.governance.policies[town.community] = CommunityPolicy(
        reaction="🚩", watched_channels=(str(town.square.id),), review_channel=str(town.review.id)
    )
    post = await town.author.send(town.square, HATE)
    await town.volunteer.react(post, "🚩")
    await alert(town.env, town, post)
    assert town.desk.flagged == [] and town.detector.read == []


# AutoMod


@READS_MESSAGES
async def test_an_alert_of_automod_offers_the_post_that_still_stands(town: Town) -> None:
    """It was flagged by nobody but us, and waits behind people's flags."""
    town.governance.policies[town.community] = CommunityPolicy(review_channel=str(town.review.id))
    post = await town.author.send(town.square, HATE)
    await alert(town.env, town, post)
    [found] = town.desk.flagged
    assert (found.text, found.flagged_how, found.priority) == (HATE, "AutoMod", Priority.DETECTED)
    assert found.flagged_by == str(town.env.bot.user.id)


@READS_MESSAGES
async def test_what_automod_took_away_needs_no_reply_and_spam_is_no_hate(town: Town) -> None:
    """Nobody could read a blocked message. Rules against spam are not ours."""
    town.governance.policies[town.community] = CommunityPolicy(review_channel=str(town.review.id))
    post = await town.author.send(town.square, HATE)
    await alert(town.env, town, None)
    await alert(town.env, town, post, trigger=3)
    assert town.desk.flagged == []
