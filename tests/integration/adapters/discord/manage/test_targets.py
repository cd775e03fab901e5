"""``/antiphon targets`` in SimCord: groups, false alarms, keywords, tone and evidence, and what is refused."""

from core.desk.rules.policy import CommunityPolicy
from core.models import Intent, TargetGroup
from tests.fakes.discord.panels import choose, opened, parts_of_form, press, words_of
from tests.fakes.discord.town import Town


async def test_groups_false_alarms_and_kinds_of_reply_are_chosen_from_lists(town: Town) -> None:
    """Several at a time; none means all, or the usual."""
    result = await opened(town, town.manager, "targets")
    await choose(town.manager, result, "groups", ["women", "migrants"], "targets")
    await choose(town.manager, result, "one_in", ["5000"], "targets")
    await choose(town.manager, result, "intents", ["empathetic"], "targets")
    policy = town.governance.policies[town.community]
    assert policy.groups == (TargetGroup.WOMEN, TargetGroup.MIGRANTS)
    assert policy.one_in == 5000 and policy.intents == (Intent.EMPATHETIC,)
    await choose(town.manager, result, "groups", [], "targets")
    assert town.governance.policies[town.community].groups == ()


async def test_keywords_are_typed_one_on_a_line_and_none_is_lost(town: Town) -> None:
    """The form holds what is there already; the panel counts them and shows none."""
    many = tuple(f"word{number}" for number in range(120))
    town.governance.policies[town.community] = CommunityPolicy(keywords=many)
    result = await opened(town, town.manager, "targets")
    shown = await press(town.manager, result, "ask_keywords", "targets")
    fields = [part for part in parts_of_form(shown.modal) if part.get("type") == 4]
    assert "\n".join(field["value"] for field in fields).split("\n") == list(many)
    values = {field["custom_id"]: field["value"] for field in fields}
    await town.manager.submit_modal(shown, {**values, "keywords_2": "scrubwort\n\n  scrubwort \nother words"})
    assert town.governance.policies[town.community].keywords == (*many[:100], "scrubwort", "other words")
    assert "Keywords: 102" in words_of(result.response) and "scrubwort" not in words_of(result.response)
