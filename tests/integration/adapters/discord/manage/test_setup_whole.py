"""``/antiphon setup`` in the whole application: calls, flags and the notice on the rules, without a terminal."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.discord.own_panel import Panel, owners_panel
from tests.fakes.discord.panels import parts_of_form
from tests.fakes.discord.whole import NewServer, drafting_engine, served

OWN = "Please read rule 4 before you write about other people here."


async def test_a_manager_sets_calls_flags_and_the_notice_without_a_terminal(tmp_path: Path) -> None:
    """Each is saved, shown, and in force at once; what is wrong is refused with the words kept."""
    async with served(drafting_engine(), tmp_path) as town:
        await town.set_up()
        panel = await owners_panel(town)
        await _calls(town, panel)
        await _flags(town, panel)
        await _notice(panel)
        await panel.press("setup", "again")
        assert panel.value("review_channel")


async def _calls(town: NewServer, panel: Panel) -> None:
    await panel.press("calls", "again")
    assert "Everybody has this role" in await panel.choose("calls", "threat", [town.square.guild.default_role])
    assert panel.value("threat").get("default_values", []) == []
    assert "Saved." in await panel.choose("calls", "threat", [town.staff])
    other = await owners_panel(town)
    await other.press("calls", "again")
    assert "Saved." in await panel.choose("calls", "second", [town.staff])
    assert "Saved." in await other.choose("calls", "waiting", [town.helpers])  # a panel that is older than the choice
    assert [other.value(kind)["default_values"][0]["id"] for kind in ("threat", "second", "waiting")] == [
        role.id for role in (town.staff, town.staff, town.helpers)
    ]
    await panel.choose("calls", "quiet_hours", ["22:00-07:00"])
    assert "There is no time zone Madrid." in await panel.type("calls", "ask_time_zone", time_zone="Madrid")
    (field,) = parts_of_form((await panel.press("calls", "ask_time_zone")).modal)
    assert field["value"] == "Madrid"
    assert "Time zone: Europe/Madrid" in await panel.type("calls", "ask_time_zone", time_zone="Europe/Madrid")
    assert "These are no quiet hours: 25:00-07:00." in await panel.type("calls", "ask_hours", hours="25:00-07:00")


async def _flags(town: NewServer, panel: Panel) -> None:
    """A member without a role, who could not flag before, is counted at once."""
    post = await town.people["author"].send(town.square, "Migrants only come here to live off our welfare.")
    await panel.press("setup", "again")
    await panel.press("flags", "again")
    await panel.choose("flags", "members_flag", ["yes"])
    await panel.choose("flags", "flaggers_needed", ["2"])
    assert "Saved." in await panel.choose("flags", "tells_flaggers", ["yes"])
    counted = await town.people["member"].context_menu(town.square, "Flag for moderators", post)
    assert counted.response.content == "Thank you. The moderators get this post when enough people have flagged it."


async def _notice(panel: Panel) -> None:
    await panel.press("setup", "again")
    await panel.press("notice", "again")
    said = await panel.type("notice", "ask_en", words="Read https://example.org first.")
    assert "Nothing was changed." in said
    assert "The text links to" in said
    (field,) = parts_of_form((await panel.press("notice", "ask_en")).modal)
    assert field["value"] == "Read https://example.org first."
    assert f"**English** (your words): {OWN}" in await panel.type("notice", "ask_en", words=OWN)
    assert "**Euskara** (no notice)" in await panel.choose("notice", "silent", ["eu"])
    assert f"**English** (your words): {OWN}" in panel.words()
    assert "**English** (Antiphon's words)" in await panel.type("notice", "ask_en", words="")
