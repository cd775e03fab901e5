"""Settings chosen on a platform of plain words: what each choice changes, and who may."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from adapters.common.desk_access import DeskAccess
from adapters.common.manage import choices, setup, targets
from adapters.common.manage.choices import PanelAnswer, Panels, in_time
from adapters.common.manage.managers import Manager
from adapters.common.manage.panels import Panel, PanelChoice
from core.desk.rules.careful_watch import FindLabel, WatchRecord
from core.desk.rules.policy import MAX_KEYWORDS, CallKind, CommunityPolicy
from core.desk.rules.roles import Person, Role
from core.errors import BadInput, NotAllowed, StoreUnavailable
from core.models import Intent, TargetGroup
from tests.fakes.ports.governance import FakeGovernance
from tests.fakes.ports.plain_markup import plain_reader
from tests.fakes.ports.word_detector import WordDetector

MANAGER = Manager("town", Person("plain", "1", "Ane"), False, plain_reader())
STRANGER = replace(MANAGER, person=Person("plain", "2", "Jon"))
OWNER = replace(STRANGER, is_owner=True)


class PlainFacts:
    """Implements ``CommunityFacts``: one channel is closed, "everybody" is everybody's role, an emoji is one sign."""

    quotes = True
    card_language = "es"

    def lacking(self, policy: CommunityPolicy, locale: str) -> list[str]:
        return ["A right is missing."] if policy.review_channel == "poor" else []

    def unread(self, locale: str) -> str:
        return "The bot may not read."

    def check_review_channel(self, channel: str, policy: CommunityPolicy, locale: str) -> None:
        if channel == "open":
            raise BadInput("Everybody can read it.", remedy="Close it.")

    def check_watched_channels(self, channels: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None:
        if "closed" in channels:
            raise BadInput("Nobody can read it.", remedy="Open it.")

    def check_everybody(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        if role in policy.roles:
            raise BadInput("They may do more.", remedy="Choose the one of all members.")

    def check_roles(self, role: Role, chosen: tuple[str, ...], policy: CommunityPolicy, locale: str) -> None:
        if "everybody" in chosen:
            raise BadInput("That is everybody.", remedy="Choose another.")

    def check_called(self, role: str, policy: CommunityPolicy, locale: str) -> None:
        if role == "everybody":
            raise BadInput("That is everybody.", remedy="Choose another.")

    def check_reaction(self, emoji: str, locale: str) -> None:
        if len(emoji) > 1:
            raise BadInput("That is no emoji.", remedy="Type one.")

    def reaction_hint(self, locale: str) -> str:
        return "One sign."


FACTS = PlainFacts()


@pytest.fixture
def governance() -> FakeGovernance:
    made = FakeGovernance()
    made.grant("1", Role.MANAGER)
    return made


@pytest.fixture
def panels(governance: FakeGovernance) -> Panels:
    """The part under test."""
    desk = DeskAccess("plain", None, governance)
    return Panels(desk)


def words(panel: Panel) -> str:
    parts = [part.title if isinstance(part, PanelChoice) else part for part in panel.parts]
    return "\n".join([panel.notice, *parts])


@pytest.mark.parametrize(
    ("chosen", "changed"),
    [
        (PanelAnswer(setup.PANEL, "review_channel", ("room",)), {"review_channel": "room"}),
        (PanelAnswer(setup.PANEL, "watched_channels", ("a", "b")), {"watched_channels": ("a", "b")}),
        (PanelAnswer(setup.PANEL, "everybody_role", ("verified",)), {"everybody_role": "verified"}),
        (PanelAnswer(setup.PANEL, "language", ("eu",)), {"language": "eu"}),
        (PanelAnswer(setup.PANEL, "language", ("any",)), {"language": None}),
        (PanelAnswer(setup.PANEL, "quotes", ("yes",)), {"quotes": True}),
        (PanelAnswer(setup.PANEL, "reaction", typed={"reaction": " ! "}), {"reaction": "!"}),
        (PanelAnswer(setup.CALLS, "threat", ("staff",)), {"calls": {CallKind.THREAT: "staff"}}),
        (PanelAnswer(setup.CALLS, "second"), {"calls": {}}),
        (PanelAnswer(setup.CALLS, "waiting_minutes", ("60",)), {"waiting_minutes": 60}),
        (PanelAnswer(setup.CALLS, "quiet_hours", ("22:00-07:00",)), {"quiet_hours": "22:00-07:00"}),
        (PanelAnswer(setup.CALLS, "threats_in_quiet_hours", ("yes",)), {"threats_in_quiet_hours": True}),
        (PanelAnswer(setup.CALLS, "hours", typed={"hours": " 22:30 – 06:15 "}), {"quiet_hours": "22:30-06:15"}),
        (PanelAnswer(setup.CALLS, "time_zone", typed={"time_zone": " Europe/Madrid "}), {"time_zone": "Europe/Madrid"}),
        (PanelAnswer(setup.FLAGS, "members_flag", ("yes",)), {"members_flag": True}),
        (PanelAnswer(setup.FLAGS, "flaggers_needed", ("3",)), {"flaggers_needed": 3}),
        (PanelAnswer(setup.FLAGS, "tells_flaggers", ("no",)), {"tells_flaggers": False}),
        (PanelAnswer(setup.NOTICE, "eu", typed={"words": " Mesedez. "}), {"norm_notice": {"eu": "Mesedez."}}),
        (PanelAnswer(setup.NOTICE, "eu", typed={"words": " "}), {"norm_notice": {}}),
        (PanelAnswer(setup.NOTICE, "silent", ("es",)), {"norm_notice": {"es": ""}}),
        (PanelAnswer(targets.PANEL, "groups", ("women",)), {"groups": (TargetGroup.WOMEN,)}),
        (PanelAnswer(targets.PANEL, "intents", ("questioning",)), {"intents": (Intent.QUESTIONING,)}),
        (PanelAnswer(targets.PANEL, "one_in", ("5000",)), {"one_in": 5000}),
        (
            PanelAnswer(targets.PANEL, "keywords", typed={"keywords_0": "b\na\n", "keywords_1": "b"}),
            {"keywords": ("b", "a")},
        ),
        (PanelAnswer(targets.PANEL, "forbidden", typed={"forbidden_0": "b\n\n b \na c"}), {"forbidden": ("b", "a c")}),
        (
            PanelAnswer(
                targets.PANEL, "voice", typed={"tone": "warm  words", "publishers": "OECD\n", "evidence_since": ""}
            ),
            {"tone": "warm words", "publishers": ("OECD",), "evidence_since": None},
        ),
    ],
)
async def test_each_choice_changes_its_field(
    panels: Panels, governance: FakeGovernance, chosen: PanelAnswer, changed: dict[str, object]
) -> None:
    panel = await panels.answer(MANAGER, chosen, FACTS)
    assert governance.done == [("configure", "1", changed)]
    assert (panel.name, panel.notice, panel.touched) == (chosen.panel, "Saved.", chosen.field)


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        (PanelAnswer(setup.PANEL, "review_channel", ("open",)), "Everybody can read it."),
        (PanelAnswer(setup.PANEL, "watched_channels", ("closed",)), "Nobody can read it."),
        (PanelAnswer(setup.PANEL, "moderators", ("everybody",)), "That is everybody."),
        (PanelAnswer(setup.PANEL, "reaction", typed={"reaction": "no"}), "That is no emoji."),
        (PanelAnswer(setup.CALLS, "threat", ("everybody",)), "That is everybody."),
        (PanelAnswer(targets.PANEL, "voice", typed={"evidence_since": "1066"}), "1066"),
    ],
)
async def test_a_refused_choice_changes_nothing_and_says_why(
    panels: Panels, governance: FakeGovernance, chosen: PanelAnswer, why: str
) -> None:
    panel = await panels.answer(OWNER, chosen, FACTS)
    assert governance.done == []
    assert "Nothing was changed." in words(panel)
    assert why in words(panel)


async def test_a_quote_is_offered_only_where_the_platform_compares_it(
    panels: Panels, governance: FakeGovernance
) -> None:
    """Elsewhere it would only repeat the post; a press from another time sets nothing there."""
    offered = await panels.panel(MANAGER, setup.PANEL, FACTS)
    assert "Plain refuses the reply if the post was edited" in words(offered)
    elsewhere = PlainFacts()
    elsewhere.quotes = False
    assert "quote" not in words(await panels.panel(MANAGER, setup.PANEL, elsewhere)).casefold()
    await panels.answer(MANAGER, PanelAnswer(setup.PANEL, "quotes", ("yes",)), elsewhere)
    assert governance.done == [("configure", "1", {"quotes": False})]


async def test_who_may_not_configure_changes_nothing(panels: Panels, governance: FakeGovernance) -> None:
    """Whatever the platform showed them."""
    panel = await panels.answer(STRANGER, PanelAnswer(setup.PANEL, "language", ("eu",)), FACTS)
    assert "Nothing was changed." in words(panel)
    with pytest.raises(NotAllowed):
        await panels.form(STRANGER, PanelAnswer(setup.PANEL, "ask_reaction"), FACTS)
    with pytest.raises(NotAllowed):
        await panels.answer(STRANGER, PanelAnswer(setup.PANEL, "posting_on"), FACTS)
    assert governance.done == []


async def test_who_owns_the_community_begins_it(panels: Panels, governance: FakeGovernance) -> None:
    """Without any role of Antiphon's yet, and without a look at its numbers."""
    panel = await panels.answer(OWNER, PanelAnswer(setup.PANEL, "moderators", ("staff",)), FACTS)
    assert governance.policies["town"].roles == {"staff": Role.MODERATOR}
    assert [button.field for button in panel.buttons] == ["again", "again", "again", "ask_reaction"]


@pytest.mark.parametrize(
    ("chosen", "meanwhile", "both"),
    [
        (
            PanelAnswer(setup.PANEL, "moderators", ("staff",)),
            CommunityPolicy(roles={"helpers": Role.VOLUNTEER}),
            CommunityPolicy(roles={"helpers": Role.VOLUNTEER, "staff": Role.MODERATOR}),
        ),
        (
            PanelAnswer(setup.CALLS, "threat", ("staff",)),
            CommunityPolicy(calls={CallKind.SECOND: "helpers"}),
            CommunityPolicy(calls={CallKind.SECOND: "helpers", CallKind.THREAT: "staff"}),
        ),
        (
            PanelAnswer(setup.NOTICE, "eu", typed={"words": "Mesedez."}),
            CommunityPolicy(norm_notice={"es": "", "en": "Please."}),
            CommunityPolicy(norm_notice={"es": "", "en": "Please.", "eu": "Mesedez."}),
        ),
        (
            PanelAnswer(setup.NOTICE, "silent", ("es",)),
            CommunityPolicy(norm_notice={"en": "Please."}),
            CommunityPolicy(norm_notice={"es": "", "en": "Please."}),
        ),
    ],
)
async def test_what_another_manager_saved_meanwhile_is_kept(
    chosen: PanelAnswer, meanwhile: CommunityPolicy, both: CommunityPolicy
) -> None:
    """A choice that keeps a part is made from the settings as they are when it is saved."""

    class Hurried(FakeGovernance):
        """Somebody else is a moment faster."""

        async def configure(self, *args: Any, **how: Any) -> CommunityPolicy:
            self.policies["town"] = meanwhile
            return await super().configure(*args, **how)

    governance = Hurried()
    panels = Panels(DeskAccess("plain", None, governance))
    await panels.answer(OWNER, chosen, FACTS)
    assert governance.policies["town"] == both


async def test_what_was_typed_into_a_refused_form_is_there_again(panels: Panels, governance: FakeGovernance) -> None:
    """For the person who typed it, until it is saved; a lost right keeps nothing."""
    governance.grant("3", Role.MANAGER)
    ask, other = PanelAnswer(setup.PANEL, "ask_reaction"), replace(MANAGER, person=Person("plain", "3", "Eli"))
    panel = await panels.answer(MANAGER, PanelAnswer(setup.PANEL, "reaction", typed={"reaction": "flag"}), FACTS)
    assert "What you typed is kept" in words(panel)
    assert [field.value for field in (await panels.form(MANAGER, ask, FACTS)).fields] == ["flag"]
    assert [field.value for field in (await panels.form(other, ask, FACTS)).fields] == [""]
    await panels.answer(MANAGER, PanelAnswer(setup.PANEL, "reaction", typed={"reaction": "!"}), FACTS)
    governance.policies["town"] = CommunityPolicy(reaction="?")
    assert [field.value for field in (await panels.form(MANAGER, ask, FACTS)).fields] == ["?"]
    panel = await panels.answer(STRANGER, PanelAnswer(setup.PANEL, "reaction", typed={"reaction": "!"}), FACTS)
    assert "What you typed is kept" not in words(panel)


async def test_a_refused_choice_from_a_list_says_nothing_of_typed_words(panels: Panels) -> None:
    """Nothing was typed, and a list has no button to press again."""
    panel = await panels.answer(MANAGER, PanelAnswer(setup.PANEL, "review_channel", ("open",), typed={}), FACTS)
    assert "Nothing was changed" in words(panel)
    assert "What you typed is kept" not in words(panel)


async def test_the_panel_says_which_flag_reaction_is_set(panels: Panels, governance: FakeGovernance) -> None:
    """Nobody has to open a form for it."""
    assert "Flag reaction: " not in words(await panels.panel(MANAGER, setup.PANEL, FACTS))
    governance.policies["town"] = CommunityPolicy(reaction="👎")
    assert "Flag reaction: 👎" in words(await panels.panel(MANAGER, setup.PANEL, FACTS))


async def test_each_page_of_settings_leads_to_the_others_and_back(panels: Panels) -> None:
    """By buttons that name their page, so that they work after a restart."""
    first = await panels.panel(MANAGER, setup.PANEL, FACTS)
    pages = {button.panel for button in first.buttons if button.panel}
    assert pages == {setup.CALLS, setup.FLAGS, setup.NOTICE}
    for page in pages:
        opened = await panels.answer(MANAGER, PanelAnswer(page, "again"), FACTS)
        assert opened.name == page
        assert opened.buttons[-1].panel == setup.PANEL


async def test_hours_and_minutes_that_no_row_names_are_shown_and_kept(
    panels: Panels, governance: FakeGovernance
) -> None:
    """Set on the command line, or typed into the form."""
    governance.policies["town"] = CommunityPolicy(quiet_hours="22:30-06:15", waiting_minutes=45)
    panel = await panels.panel(MANAGER, setup.CALLS, FACTS)
    rows = {part.field: part for part in panel.parts if isinstance(part, PanelChoice)}
    assert dict(rows["quiet_hours"].rows)["22:30-06:15"] == "22:30–06:15"
    assert dict(rows["waiting_minutes"].rows)["45"] == "45 minutes"
    assert (rows["quiet_hours"].chosen, rows["waiting_minutes"].chosen) == (("22:30-06:15",), ("45",))


def test_a_role_gives_one_thing_only() -> None:
    """One that gave another gives it no more; what is not chosen any more is gone."""
    now = {"a": Role.MODERATOR, "b": Role.MANAGER, "c": Role.VOLUNTEER}
    assert setup.roles_with(now, Role.MODERATOR, ("b",)) == {"b": Role.MODERATOR, "c": Role.VOLUNTEER}


async def test_leaving_shadow_mode_takes_two_presses_and_going_back_one(
    panels: Panels, governance: FakeGovernance
) -> None:
    """Nobody begins to post by a slip."""
    asked = await panels.answer(MANAGER, PanelAnswer(setup.PANEL, "posting_on"), FACTS)
    assert governance.done == []
    first = next(button for button in asked.buttons if button.is_first)
    await panels.answer(MANAGER, PanelAnswer(setup.PANEL, first.field), FACTS)
    await panels.answer(MANAGER, PanelAnswer(setup.PANEL, "posting_off"), FACTS)
    assert governance.done == [("posting", True, ""), ("posting", False, "")]


async def test_replies_stop_saying_who_drafts_only_for_a_reason(panels: Panels, governance: FakeGovernance) -> None:
    """It is asked for in a form, and kept."""
    ask = PanelAnswer(setup.PANEL, "ask_disclosure_off")
    assert ask.opens_form
    form = await panels.form(MANAGER, ask, FACTS)
    (field,) = form.fields
    assert field.is_needed
    await panels.answer(MANAGER, PanelAnswer(form.panel, form.field, typed={field.name: "It is in our rules."}), FACTS)
    assert governance.done == [("disclosure", False, "It is in our rules.")]


async def test_what_is_wrong_stands_on_the_panel(panels: Panels, governance: FakeGovernance) -> None:
    """Missing rights, a missing review channel, words that may not be read; nothing where all is well."""
    poor = CommunityPolicy(review_channel="poor", watched_channels=("a",))
    governance.policies["town"] = poor
    said = words(await panels.panel(MANAGER, setup.PANEL, FACTS))
    assert "A right is missing." in said
    assert "The bot may not read." in said
    governance.policies["town"] = CommunityPolicy()
    said = words(await panels.panel(MANAGER, setup.PANEL, FACTS))
    assert "Without a review channel nobody sees the cases here." in said
    assert "The bot may not read." not in said


def test_keywords_have_as_many_fields_as_they_need() -> None:
    """Fifty in each; a form without any has one to type in."""
    many = CommunityPolicy(keywords=tuple(f"word{number}" for number in range(MAX_KEYWORDS)))
    fields = targets.keywords_form(many, "en").fields
    assert targets.word_changes("keywords", {field.name: field.value for field in fields}) == {
        "keywords": many.keywords
    }
    assert [field.value for field in targets.keywords_form(CommunityPolicy(), "en").fields] == [""]


async def test_a_form_is_not_waited_for_longer_than_a_platform_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who pressed is told to press again."""
    monkeypatch.setattr(choices, "FORM_SECONDS", 0.0)
    with pytest.raises(StoreUnavailable, match="takes too long"):
        async with in_time("en"):
            await asyncio.Event().wait()


# How often the filter is wrong


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            WatchRecord(looked_at=500, days=0.9),
            "How many false alarms a week there are here is not known yet: the filter looks at messages for a day "
            "first. By its threshold now it is wrong on about one in 2000.",
        ),
        (
            WatchRecord(looked_at=32_000, days=14.0),
            "About 8 false alarms a week here. The filter looked at 32000 messages in 14 days; by its threshold now it "
            "is wrong on about one in 2000.",
        ),
        (WatchRecord(looked_at=4_000, days=14.0), "About one false alarm a week here."),
        (WatchRecord(looked_at=300, days=14.0), "Less than one false alarm a week here."),
        (WatchRecord((FindLabel(0.9999, is_hateful=False),), 30_000, 14.0), "about one in 4000."),
        (
            WatchRecord(looked_at=300, days=14.0, found=9, wrong=2),
            "Of 9 posts that the filter found in the last four weeks, moderators called 2 not hateful.",
        ),
    ],
)
async def test_the_panel_says_about_how_many_false_alarms_there_are(
    governance: FakeGovernance, record: WatchRecord, said: str
) -> None:
    """From what was looked at here, by the threshold that the labels made."""
    governance.policies["town"] = CommunityPolicy(watched_channels=("square",))
    governance.watched = record
    panels = Panels(DeskAccess("plain", None, governance), WordDetector())
    assert said in words(await panels.panel(MANAGER, targets.PANEL, FACTS))


async def test_where_nothing_is_watched_no_false_alarms_are_told(governance: FakeGovernance, panels: Panels) -> None:
    """Nor where there is no filter."""
    with_filter = Panels(DeskAccess("plain", None, governance), WordDetector())
    assert "false alarm" not in words(await with_filter.panel(MANAGER, targets.PANEL, FACTS))
    governance.policies["town"] = CommunityPolicy(watched_channels=("square",))
    assert "false alarm" not in words(await panels.panel(MANAGER, targets.PANEL, FACTS))


async def test_a_rate_that_no_row_names_is_shown_and_kept(governance: FakeGovernance, panels: Panels) -> None:
    """In its place among the others."""
    governance.policies["town"] = CommunityPolicy(one_in=3000)
    panel = await panels.panel(MANAGER, targets.PANEL, FACTS)
    (choice,) = [part for part in panel.parts if isinstance(part, PanelChoice) and part.field == "one_in"]
    assert [value for value, _ in choice.rows] == ["500", "1000", "2000", "3000", "5000", "10000", "20000"]
    assert choice.chosen == ("3000",)
