"""``python -m tools.pages.screens`` runs `antiphon run` and keeps pictures of its pages: docs/samples/dashboard-*.png.

It drafts for the three sample posts with the model that ships, and without a model for the posts with known answers,
which it then decides about; each in a database of its own. It takes some minutes and
needs Chromium.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess  # nosec B404 # programs of our own choice, never through a shell
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from adapters.sample import SAMPLE_FLAGS, SamplePost
from bot.cli.command import out
from bot.cli.sample_town import review_on_page
from bot.settings import load_settings
from bot.trial.trial import known_readings

ROOT: Final = Path(__file__).parent.parent.parent
FOLDER: Final = ROOT / "docs" / "samples"
MOST_BYTES: Final = 120_000
_DESK, _PHONE = (1280, 780), (390, 844)
_COLOURS: Final = 128
_PATIENCE_MS: Final = 900_000
_LINK: Final = re.compile(r"http://\S+/link/\S+")
_FIRST: Final = "a[data-case] >> nth=-1"
"""The last row of the queue: the case whose post a prepared reply surely fits."""


def pictures(page: Page, origin: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Go to one page after the other; gives the name of each, and how large its picture is."""
    page.goto(origin)
    page.locator(".case-row.waits").nth(len(SAMPLE_FLAGS) - 1).wait_for()
    yield "queue", (1280, 590)
    page.click(_FIRST)
    yield "case", _DESK
    yield "case-phone", _PHONE
    case = page.url
    page.click("[data-key=e]")
    page.fill("#text", f"{page.input_value('#text')} What happened at the mill?")
    page.wait_for_selector("#checks .diff")
    yield "edit", _DESK
    page.goto(case)
    page.click("[data-key=a]")
    page.wait_for_selector("pre.exact")
    yield "approve-phone", (390, 1180)
    page.goto(f"{origin}/library/cards?group=migrants&language=en")
    yield "library", _DESK
    page.goto(f"{origin}/library/coverage")
    yield "coverage", _DESK
    page.goto(f"{origin}/settings")
    page.click("main a")
    yield "settings", _DESK
    page.click("main a[href$=setup]")
    yield "setup", _DESK
    page.goto(f"{origin}/me")
    yield "you-phone", _PHONE


def counted_pictures(page: Page, origin: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """The pages that tell what happened, after each of the waiting cases was decided about."""
    page.goto(origin)
    rows = page.locator(".case-row.waits [data-case]")
    rows.nth(len(known_posts()) - 1).wait_for()
    for number, case in enumerate(rows.evaluate_all("all => all.map(row => row.dataset.case)")):
        page.goto(f"{origin}/case/{case}")
        if number % 5 == 4 or not page.locator("[data-key=a]").count():
            _close(page, number)
        else:
            _approve(page, is_edited=number % 4 == 2)
    page.goto(f"{origin}/decided")
    yield "decided-phone", _PHONE
    page.goto(f"{origin}/numbers")
    yield "numbers", (1280, 1500)
    page.goto(f"{origin}/record?check=1")
    yield "record", _DESK


def known_posts() -> list[SamplePost]:
    """The hateful ones of the posts with known answers, each by another member."""
    hateful = [known.text for known in known_readings() if known.is_hateful]
    return [SamplePost(str(number), f"member {number}", text) for number, text in enumerate(hateful, start=200)]


def run_known() -> None:
    """``antiphon run``, with those posts in the sample community."""
    posts = known_posts()
    asyncio.run(review_on_page(out(), load_settings(None), "", posts=posts, flags=[post.id for post in posts]))


def _close(page: Page, number: int) -> None:
    page.click("#close summary")
    page.locator("#close [type=radio]").nth(number % 3).check()
    page.click("#close button")


def _approve(page: Page, is_edited: bool) -> None:
    """Approve the first draft, or that draft with another ending."""
    page.click("[data-key=e]" if is_edited else "[data-key=a]")
    if is_edited:
        page.fill("#text", f"{page.input_value('#text')[:-1]}!")
        page.click("form button.first")
    page.click("button.final")
    page.wait_for_selector("#case")


@contextmanager
def _running(program: str, **settings: str) -> Iterator[str]:
    """``antiphon run`` with a database that goes at the end; gives the link that logs somebody in.

    Args:
        program: starts it.
        settings: environment variables.
    """
    with tempfile.TemporaryDirectory() as home:
        places = {f"XDG_{kind}_HOME": str(Path(home) / kind) for kind in ("CONFIG", "DATA", "STATE")}
        ours = {"PYTHONPATH": str(ROOT), "LOGNAME": "moderator", "COLUMNS": "200"} | settings
        environment = os.environ | places | ours
        run = [sys.executable, "-u", "-c", program, "run"]
        with subprocess.Popen(run, env=environment, stdout=subprocess.PIPE, text=True, cwd=ROOT) as begun:  # nosec B603 # programs of our own choice, never through a shell
            try:
                yield next(
                    match[0] for line in begun.stdout or () if (match := re.search(r"http://\S+/link/\S+", line))
                )
            finally:
                begun.send_signal(signal.SIGINT)
                begun.communicate()


def _small(picture: bytes) -> bytes:
    """The same picture with fewer colours.

    Raises:
        ValueError: it is too large for a page even so.
    """
    file, drawn = BytesIO(), Image.open(BytesIO(picture)).convert("RGB")
    drawn.quantize(_COLOURS, dither=Image.Dither.NONE).save(file, "PNG", optimize=True)
    if file.tell() > MOST_BYTES:
        raise ValueError(f"A picture has {file.tell()} bytes, more than {MOST_BYTES}: show less of the page.")
    return file.getvalue()


def write(folder: Path = FOLDER) -> None:
    """Take every picture, and take away those that are no longer taken."""
    taken = dict[str, bytes]()
    known = "from tools.pages.screens import run_known; run_known()"
    for wanted, program, backend in (
        (pictures, "from bot.cli.main import main; main()", "embedded"),
        (counted_pictures, known, "none"),
    ):
        with _running(program, ANTIPHON__LLM__BACKEND=backend) as link, sync_playwright() as driver:
            browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            page = browser.new_page(locale="en", color_scheme="light", reduced_motion="reduce")
            page.set_default_timeout(_PATIENCE_MS)
            page.goto(link)
            page.click("main button")
            page.wait_for_selector("#queue, main a.button")
            for name, (width, height) in wanted(page, link.partition("/link/")[0]):
                page.set_viewport_size({"width": width, "height": height})
                taken[f"dashboard-{name}.png"] = _small(page.screenshot())
            browser.close()
    for old in folder.glob("dashboard-*.png"):
        old.unlink()
    for name, picture in taken.items():
        (folder / name).write_bytes(picture)


if __name__ == "__main__":
    write()
