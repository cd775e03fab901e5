"""`antiphon check` and `antiphon read`: anybody can have their words read, one by one."""

import pytest

from tests.e2e.conftest import HARMLESS, HATEFUL, Antiphon, InThisProcess

GOOD = "My street is better for the families who came from far away."
INSULT = "You are an idiot."
FIGURE = "In 2022, 61% of newcomers in Brenmoor found work."


def test_a_reply_that_uses_an_insult_is_refused(here: InThisProcess):
    """The exit code answers the question, and the reason is said in words."""
    result = here("check", HATEFUL, INSULT)
    assert result.code == 1
    assert result.out.startswith("Refused (small reader)")
    assert "The reply may not be shown: slur or insult." in result.out
    assert "Scores: unfit" in result.out


def test_a_reply_is_a_document(here: InThisProcess):
    """A program reads level, reasons, scores of reply and post, and the evidence for each sentence."""
    result = here("check", HATEFUL, FIGURE, "--json", "--language", "en")
    found = result.document
    assert set(found) == {
        "level", "language", "read_by", "why", "faults", "warnings", "scores", "sentences", "post",
    }  # fmt: skip
    assert (result.code, found["level"]) == (1, "refused")
    assert "a number that no evidence holds" in found["faults"]
    assert [item["text"] for item in found["sentences"][0]["unsupported"]] == ["2022", "61%", "Brenmoor"]
    assert 0 <= found["scores"]["unfit"] <= 1
    assert "migrants" in found["post"]["groups"]


@pytest.mark.parametrize("command", ["check", "read"])
def test_a_post_is_of_the_language_that_a_draft_would_find(here: InThisProcess, command: str):
    """The small detector takes this one for Catalan, and a good reply was refused as one in another language."""
    reply = [GOOD] if command == "check" else []
    found = here(command, "Migrants are criminals.", *reply, "--json").document
    assert (found["language"], found["read_by"]) == ("en", "small reader")


@pytest.mark.parametrize("command", ["check", "read"])
def test_a_language_that_the_reader_does_not_know_is_said(here: InThisProcess, command: str):
    """Then only the rules were applied, and nothing pretends to more."""
    reply = ["Gure auzokideek gurekin lan egiten dute."] if command == "check" else []
    result = here(command, "Dena kentzen digute etorkinek.", *reply, "--json", "--language", "eu")
    found = result.document
    if found["read_by"] == "rules only":
        assert found["scores"] is None
        assert "only the rules were applied" in found["why"][-1]
    else:
        assert found["scores"] is not None


def test_a_post_may_come_through_a_pipe(antiphon: Antiphon):
    result = antiphon("read", "-", "--json", stdin=HARMLESS.encode())
    assert (result.code, result.document["verdict"]) == (0, "not hateful")


def test_a_post_is_read_in_words(here: InThisProcess):
    """Whom it attacks is said before any score."""
    result = here("read", HATEFUL)
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith("Hateful (small reader)")
    assert "The post attacks" in result.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("check",), "The post is missing. Call it as antiphon check POST REPLY"),
        (("check", "They live off us."), "The reply is missing."),
        (("check", " ", "Hello."), "The post is empty."),
        (("check", "x", "y", "--language", "tlh"), "Antiphon does not read the language 'tlh'. It reads: en, es"),
    ],
)
def test_a_wrong_call_is_told_what_to_do(here: InThisProcess, arguments: tuple[str, ...], said: str):
    """Nothing is loaded for it."""
    result = here(*arguments)
    assert (result.code, result.out) == (2, "")
    assert said in result.err
