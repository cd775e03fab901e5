"""A post without an approval does not even pass the type checker."""

import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[5]

COMMON = """\
from datetime import datetime
from core.models import SentReply, PostRef
from core.desk.rules.platforms import ChatPlatform
from core.desk.rules.approval import ApprovedReply, approve, restore

"""

SNIPPETS = {
    "posts_an_approval": """\
async def send(platform: ChatPlatform, ref: PostRef, text: str, shown: str, at: datetime) -> SentReply:
    reply = approve(approval_id="a", in_reply_to=ref, text=text, shown_sha256=shown, moderator="m", at=at)
    return await platform.post(reply)
""",
    "posts_a_text": """\
async def send(platform: ChatPlatform) -> SentReply:
    return await platform.post("text")
""",
    "makes_a_reply_without_the_seal": """\
def forge(ref: PostRef, at: datetime) -> ApprovedReply:
    return ApprovedReply("a", ref, "text", "m", at, "0" * 64)
""",
    "makes_a_reply_with_something_else": """\
def forge(ref: PostRef, at: datetime) -> ApprovedReply:
    return ApprovedReply("a", ref, "text", "m", at, "0" * 64, object())
""",
    "approves_without_a_moderator": """\
def forge(ref: PostRef, at: datetime) -> ApprovedReply:
    return approve(approval_id="a", in_reply_to=ref, text="text", shown_sha256="0" * 64, at=at)
""",
    "changes_a_reply": """\
def change(reply: ApprovedReply) -> None:
    reply.text = "another"
""",
}

ERRORS = {
    "posts_a_text": 'Argument 1 to "post" of "ChatPlatform" has incompatible type "str"',
    "makes_a_reply_without_the_seal": 'Missing positional argument "seal" in call to "ApprovedReply"',
    "makes_a_reply_with_something_else": 'Argument 7 to "ApprovedReply" has incompatible type "object"',
    "approves_without_a_moderator": 'Missing named argument "moderator" for "approve"',
    "changes_a_reply": 'Property "text" defined in "ApprovedReply" is read-only',
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What mypy says about all snippets, by the settings of the project, and with what it keeps of the last run."""
    folder = tmp_path_factory.mktemp("snippets")
    for name, body in SNIPPETS.items():
        (folder / f"{name}.py").write_text(COMMON + body)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *(str(folder / f"{name}.py") for name in SNIPPETS)],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    return [line for line in done.stdout.splitlines() if ": error: " in line]


@pytest.mark.parametrize("name", ERRORS)
def test_a_shortcut_is_a_type_error(report: list[str], name: str) -> None:
    """A person who tries to post or to make a reply past the approval is stopped before anything runs."""
    errors = [line for line in report if f"/{name}.py:" in line]
    assert len(errors) == 1
    assert ERRORS[name] in errors[0]


def test_the_right_way_passes(report: list[str]) -> None:
    """The errors above come from the shortcuts, not from the snippets' common part."""
    assert [line for line in report if not any(f"/{name}.py:" in line for name in ERRORS)] == []
