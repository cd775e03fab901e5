"""What a page in a browser does against WCAG 2.2: axe-core's rules, and checks of our own for what they leave out."""

from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Final

from playwright.async_api import Page

_TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
_NAMES: Final = (
    *("aria-command-name", "aria-dialog-name", "button-name", "document-title", "empty-heading", "image-alt", "label"),
    *("input-button-name", "landmark-unique", "link-name", "select-name", "summary-name", "table-duplicate-name"),
)
_LOOKS: Final = ("color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size")
_RUN: Final = """only => axe.run(document, {
  runOnly: only, resultTypes: ["violations"], rules: {"target-size": {enabled: true}},
}).then(found => found.violations.flatMap(rule => rule.nodes.map(node => `${rule.id}: ${node.html.slice(0, 200)}`)))"""
_FOCUS: Final = """() => {
  const light = colour => {
    const parts = colour.match(/[\\d.]+/g).slice(0, 3).map(one => one / 255);
    const [r, g, b] = parts.map(one => one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const paper = getComputedStyle(document.body).backgroundColor, found = [];
  const within = document.querySelector("dialog[open]") ?? document;
  const all = [...within.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
    .filter(one => !one.disabled && one.checkVisibility() && one.getClientRects().length);
  for (const one of [...all, ...all.toReversed()]) {
    one.focus();
    const name = one.outerHTML.slice(0, 120), style = getComputedStyle(one), box = one.getClientRects()[0];
    if (document.activeElement !== one) { found.push(`takes no focus: ${name}`); continue; }
    if (style.outlineStyle === "none" || parseFloat(style.outlineWidth) < 2 || contrast(style.outlineColor, paper) < 3)
      found.push(`focus is not seen: ${name}`);
    const x = box.x + box.width / 2, y = Math.min(Math.max(box.y + box.height / 2, 0), innerHeight - 1);
    const there = document.elementFromPoint(x, y);
    if (!there || !(one.contains(there) || there.contains(one) && there.closest("label, svg, a, button")))
      found.push(`focus is covered: ${name}`);
  }
  document.activeElement.blur();
  return all.length ? [...new Set(found)] : ["nothing takes the focus"];
}"""

_SHAPE: Final = """() => {
  const said = new Map(), ties = ["for", "hidden", "id", "role", "type", "aria-labelledby", "aria-describedby"];
  const first = words => words ? said.get(words) ?? said.set(words, said.size).get(words) : `${words}`;
  return [...document.querySelectorAll("*")].map(one => [
    one.localName, !!one.textContent.trim(), ...ties.map(name => one.getAttribute(name)),
    ...["aria-label", "title", "alt", "value", "summary"].map(name => first(one.getAttribute(name)?.trim())),
  ].join("|")).join("\\n");
}"""


@cache
def _axe() -> str:
    return resources.files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")


async def faults(page: Page) -> list[str]:
    """What breaks a rule of axe-core on the page now: of WCAG 2.2 A and AA with target size, and of good practice."""
    return await _broken(page, "tag", _TAGS)


async def faults_of_looks(page: Page) -> list[str]:
    """Those that another theme or another width can make: colours, sizes, and what only scrolls there."""
    return await _broken(page, "rule", _LOOKS)


async def faults_of_names(page: Page) -> list[str]:
    """Those that other words can make: something has no name, or the name of something else."""
    return await _broken(page, "rule", _NAMES)


async def shape(page: Page) -> str:
    """Its elements and what names them, without the words: whether there are any, and which attributes say the same.

    Two pages of one shape have the same ``faults_of_names``.
    """
    found: str = await page.evaluate(_SHAPE)
    return found


async def _broken(page: Page, kind: str, values: Sequence[str]) -> list[str]:
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(_axe())
    found: list[str] = await page.evaluate(_RUN, {"type": kind, "values": list(values)})
    return found


async def faults_of_focus(page: Page) -> list[str]:
    """Where the focus, which goes to each element forwards and backwards, is not seen or is covered (2.4.7, 2.4.11)."""
    await page.keyboard.press("Tab")  # from here on the browser shows the focus, as it does for who uses keys
    found: list[str] = await page.evaluate(_FOCUS)
    return found


async def is_too_wide(page: Page, width: int = 320) -> bool:
    """Whether it has to be pushed sideways on a screen of this width (1.4.10)."""
    await page.set_viewport_size({"width": width, "height": 700})
    return bool(await page.evaluate("document.documentElement.scrollWidth > innerWidth"))
