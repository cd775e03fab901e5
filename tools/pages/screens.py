"""``python -m tools.pages.screens`` runs `antiphon run` and keeps pictures of its pages: docs/samples/dashboard-*.png.

It drafts for the three sample posts with the configured model, in a database of its own, and takes some minutes. It
needs Chromium.
"""

from __future__ import annotations

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

from adapters.sample.posts import SAMPLE_FLAGS

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
    yield "approve-phone", _PHONE
    page.goto(f"{origin}/library/cards?group=migrants&language=en")
    yield "library", _DESK
    page.goto(f"{origin}/settings")
    page.click("main a")
    yield "settings", _DESK


@contextmanager
def _running() -> Iterator[str]:
    """``antiphon run`` with a database that goes at the end; gives the link that logs somebody in."""
    with tempfile.TemporaryDirectory() as home:
        places = {f"XDG_{kind}_HOME": str(Path(home) / kind) for kind in ("CONFIG", "DATA", "STATE")}
        environment = os.environ | places | {"PYTHONPATH": str(ROOT), "LOGNAME": "moderator", "COLUMNS": "200"}
        run = [sys.executable, "-u", "-c", "from bot.cli.main import main; main()", "run"]
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
    with _running() as link, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(locale="en", color_scheme="light", reduced_motion="reduce")
        page.set_default_timeout(_PATIENCE_MS)
        page.goto(link)
        page.click("main button")
        page.wait_for_selector("#queue, main a.button")
        for name, (width, height) in pictures(page, link.partition("/link/")[0]):
            page.set_viewport_size({"width": width, "height": height})
            taken[f"dashboard-{name}.png"] = _small(page.screenshot())
        browser.close()
    for old in folder.glob("dashboard-*.png"):
        old.unlink()
    for name, picture in taken.items():
        (folder / name).write_bytes(picture)


if __name__ == "__main__":
    write()
