"""The text of a web page that people see, without scripts, styles, hidden text and menus.

Owns the walk over the tree that Lexbor (selectolax) makes. Hidden text can only be recognised in the tree, with its
styles. So the main text is chosen here too, not by a library afterwards. What a reader opens by a click is text of the
page: a closed ``details``, a panel below a button, a tab. A note says how much that is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from kb.parsing.formats.kinds import decoded
from kb.parsing.formats.styles import (
    Declarations,
    declarations,
    folds,
    has_background,
    hides,
    is_white,
    lowers,
    raises,
    rules,
    strikes,
)
from kb.parsing.raised import OFF, ON, lowered
from kb.parsing.raw import STRUCK, Raw, join_row

_NEVER_SHOWN = frozenset(
    "script style template noscript head title meta link svg math canvas audio video iframe object embed map select "
    "option button textarea input datalist".split()
)
_FURNITURE = frozenset("nav footer aside menu dialog".split())
_FURNITURE_ROLES = frozenset("navigation banner contentinfo search complementary menu menubar dialog".split())
_FURNITURE_NAMES = re.compile(
    r"(?:cookies?|consent|breadcrumbs?)(?:[-_]\w+)*|nav|navbar|menu|sidebar|social|share|newsletter|pagination|"
    r"skip-?link|sr-only|visually-hidden",
    re.IGNORECASE,
)
_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hr html legend li main menu nav ol p pre section summary table tbody tfoot "
    "thead tr ul br".split()
)
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_SPACED = frozenset({"td", "th"})
_NUMBER = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]|[—–•-]")  # of a list that a page lays out as a table
_PUBLISHERS = (
    "citation_publisher", "dc.publisher", "dcterms.publisher", "og:site_name", "publisher", "author", "dc.creator",
    "dcterms.creator", "citation_author",
)  # fmt: skip
_DATES = (
    "citation_publication_date", "citation_date", "article:published_time", "dc.date.issued", "dcterms.issued",
    "dcterms.date", "dc.date", "datepublished", "date", "dcterms.created", "article:modified_time", "dcterms.modified",
)  # fmt: skip
_MOST_META = 200
_OPENERS = "button, summary, label, a, [role=tab], [role=button], [data-toggle], [data-bs-toggle], [data-bs-target]"
_OPENED_BY = ("aria-controls", "data-target", "data-bs-target", "href", "for")
_OPENER_TAGS = frozenset({"button", "summary"})
_STRUCK = frozenset({"s", "strike", "del"})
_NOTE_ROLES = frozenset({"doc-noteref"})
_MARK = re.compile(r"\A\s*(?:\d{1,3}|[*†‡§]{1,3})\s*")
_MARK_IN_BRACKETS = re.compile(r"\A\s*\[(?:\d{1,3}|[a-z]|[ivx]{2,5}|[A-Za-z]{1,5} \d{1,3})\]\s*")
_IN_BRACKETS = re.compile(r"\A\s*[\[(]\s*(?:\d{1,3}|[a-z*†‡]|[ivx]{2,5})\s*[\])]\s*")  # where its address names a note
_NOTE = re.compile(
    r"_?_?(?:fn|ftn|edn|ntr|sdfootnote|sdendnote|(?:foot|end)?notes?|cite_note|cite)[-_:.]?[\w.:-]*", re.IGNORECASE
)
_MARK_CLASS = re.compile(
    r"(?:[a-z]{1,9}-)?super(?:script)?|sup|oj-note-tag|(?:foot|end)?note[-_]?(?:ref(?:erence)?|mark|tag|anchor)"
    r"|fn-?ref|mso(?:foot|end)notereference|sd(?:foot|end)noteanc",
    re.IGNORECASE,
)
"""The classes of marks, whose style often stands in another file."""
_INLINE = frozenset("a span b i em strong small font".split())
_LONGEST_MARK = 10
_MOST_OPENERS = 5000
_HEADED = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "div", "dt"})  # what an opening button stands in
_LINKED = "#"
_NO_SIGNS = {ord(sign): " " for sign in ON + OFF}
_LEAST_MAIN = 250  # characters; a shorter "main" is a frame that a script fills
_MOSTLY_LINKS = 0.66
_LONGEST_MENU_ENTRY = 200


@dataclass(slots=True)
class _Sheet:
    """The page's own style sheets: what they say of each element, by its address in memory.

    ``panels`` are the ids of what a button, a tab or a link opens.
    """

    hidden: set[int] = field(default_factory=set)
    folded: set[int] = field(default_factory=set)
    raised: set[int] = field(default_factory=set)
    struck: set[int] = field(default_factory=set)
    lowered: set[int] = field(default_factory=set)
    panels: set[str] = field(default_factory=set)
    white: set[int] = field(default_factory=set)
    coloured: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Look:
    """Whether text is white, and whether something other than white is behind it."""

    is_white: bool
    is_on_colour: bool


@dataclass(slots=True)
class _Text:
    """The text gathered so far: blocks, and the parts of the open one with how much of it is linked."""

    blocks: list[str] = field(default_factory=list)
    parts: list[str] = field(default_factory=list)
    linked: int = 0
    hidden: int = 0
    struck: int = 0
    opened: int = 0

    def end_block(self, *, is_heading: bool = False) -> None:
        """Close the open block; a block that is mostly links is a menu and is left out, unless it is a heading."""
        text = " ".join("".join(self.parts).split())
        is_menu = not is_heading and len(text) < _LONGEST_MENU_ENTRY and self.linked > _MOSTLY_LINKS * len(text)
        if text and not is_menu:
            is_numbered = bool(self.blocks) and _NUMBER.fullmatch(self.blocks[-1])
            self.blocks.append(f"{self.blocks.pop()} {text}" if is_numbered else text)
        self.parts.clear()
        self.linked = 0

    @property
    def length(self) -> int:
        """How many characters the closed blocks have."""
        return sum(len(block) for block in self.blocks)


def read(data: bytes, media_type: str) -> Raw:
    """The page's main text, a line for each block; the whole page where no part is marked as its main text.

    Raises:
        DocumentRefused: its characters are in no known encoding.
    """
    tree = LexborHTMLParser(decoded(data, media_type))
    if tree.body is None:
        return Raw([""])
    sheet = _sheet(tree)
    whole = _gathered(tree.body, sheet)
    text = whole
    for main in tree.css("main, [role=main], article")[:1]:
        inner = _gathered(main, sheet)
        if inner.length >= max(_LEAST_MAIN, whole.length // 4):
            text = inner
    return Raw(
        ["\n".join(text.blocks)],
        title=_title(tree),
        author=_said(tree, _PUBLISHERS),
        dated=_said(tree, _DATES),
        hidden=whole.hidden,
        notes=[
            *([f"Text that a reader opens by a click was read: {whole.opened:,} characters."] if whole.opened else []),
            *([STRUCK.format(count=f"{whole.struck:,}")] if whole.struck else []),
        ],
    )


def _title(tree: LexborHTMLParser) -> str | None:
    """What the page calls itself, or its first heading."""
    for name in ("title", "h1"):
        found = tree.css_first(name)
        if found is not None and (text := found.text(deep=name != "title").strip()):
            return text
    return None


def _said(tree: LexborHTMLParser, names: Sequence[str]) -> str | None:
    """What the page's description says under the first of these names that it has."""
    said: dict[str, str] = {}
    for node in tree.css("meta[content]")[:_MOST_META]:
        given = node.attributes
        name = (given.get("name") or given.get("property") or given.get("itemprop") or "").casefold()
        said.setdefault(name, (given.get("content") or "").strip())
    found = next((said[name] for name in names if said.get(name)), None)
    if found is None and names is _DATES and (time := tree.css_first("time[datetime]")) is not None:
        return time.attributes.get("datetime")
    return found


def _sheet(tree: LexborHTMLParser) -> _Sheet:
    sheet = _Sheet(panels=_opened_by_click(tree))
    for style in tree.css("style"):
        for selector, said in rules(style.text(deep=True)):
            ids = _ids(tree, selector)
            if folds(said):
                sheet.folded |= ids
            if hides(said):
                sheet.hidden |= ids
            if strikes(said):
                sheet.struck |= ids
            if raises(said):
                sheet.raised |= ids
            if lowers(said):
                sheet.lowered |= ids
            if is_white(said):
                sheet.white |= ids
            if has_background(said):
                sheet.coloured |= ids
    return sheet


def _opened_by_click(tree: LexborHTMLParser) -> set[str]:
    """The ids that buttons, tabs and labels name; a plain link leads to a place, and opens nothing."""
    found = set[str]()
    for node in tree.css(_OPENERS)[:_MOST_OPENERS]:
        given = node.attributes
        is_plain = node.tag == "a" and not any(
            name in given for name in ("role", "data-toggle", "data-bs-toggle", "aria-controls", "aria-expanded")
        )
        for name in _OPENED_BY if not is_plain else ():
            found |= {name.lstrip("#") for name in (given.get(name) or "").split()}
    return found


def _ids(tree: LexborHTMLParser, selector: str) -> set[int]:
    if ":" in selector:  # a state or a part of an element, such as :hover, not what it is
        return set()
    try:
        return {node.mem_id for node in tree.css(selector)}
    except SelectolaxError:
        return set()


def _gathered(root: LexborNode, sheet: _Sheet) -> _Text:
    """The text below an element. Walks without recursion: a page may nest deeper than Python's stack."""
    text = _Text()
    left_out: tuple[int, bool] | None = None  # the element whose text is left out, and whether it hides text
    looks = [_Look(is_white=False, is_on_colour=False)]
    rows = list[tuple[int, int]]()  # of the open rows: where each begins, and how many cells it has
    heights = list[str]()
    links = panels = 0
    for node, enters in _walk(root):
        if left_out:
            if not enters and node.mem_id == left_out[0]:
                left_out = None
            elif enters and left_out[1] and node.is_text_node:
                text.hidden += len((node.text_content or "").strip())
            continue
        if not node.is_element_node:
            if enters and node.is_text_node:
                words = (node.text_content or "").translate(_NO_SIGNS)
                text.opened += len(words.strip()) * (panels > 0)
                height = heights[-1] if heights else ""
                _take(text, words, looks[-1], is_linked=links > 0, height=height)
            continue
        tag = node.tag or ""
        if enters:
            style = declarations((node.attributes.get("style") or "")[:2000])
            if tag in _NEVER_SHOWN or _is_furniture(node, tag, root):
                left_out = (node.mem_id, False)
                continue
            if _is_hidden(node, style, sheet):
                left_out = (node.mem_id, True)
                continue
            if tag in _STRUCK or strikes(style) or node.mem_id in sheet.struck:
                text.struck += len((node.text(deep=True) or "").strip())
                left_out = (node.mem_id, False)
                continue
            looks.append(_look(node, style, sheet, looks[-1]))
        else:
            looks.pop()
        if height := _height(node, sheet):
            heights.append(height) if enters else heights.pop()
        panels += _is_folded(node, sheet) * (1 if enters else -1)
        links += (tag == "a") * (1 if enters else -1)
        if tag in _BLOCKS:
            text.end_block(is_heading=tag in _HEADINGS)
        elif tag in _SPACED:
            text.parts.append(" ")
        if tag == "tr" and enters:
            rows.append((len(text.blocks), 0))
        elif tag == "tr" and rows:
            join_row(text.blocks, *rows.pop())
        elif tag in _SPACED and enters and rows:
            rows[-1] = (rows[-1][0], rows[-1][1] + 1)
    text.end_block()
    return text


def _walk(root: LexborNode) -> Iterator[tuple[LexborNode, bool]]:
    """An element and every node below it, when it is entered and when it is left."""
    node, last = root, root.mem_id
    while True:
        yield node, True
        child = node.child
        if child is not None:
            node = child
            continue
        while True:
            yield node, False
            if node.mem_id == last:
                return
            following = node.next
            if following is not None:
                node = following
                break
            parent = node.parent
            if parent is None:
                return
            node = parent


def _take(text: _Text, words: str, look: _Look, *, is_linked: bool, height: str) -> None:
    if look.is_white and not look.is_on_colour:
        text.hidden += len(words.strip())
        return
    is_raised = height == ON or (height == _LINKED and bool(text.parts) and text.parts[-1][-1:].strip())
    raised = f"{ON}{words.strip()}{OFF}" if is_raised and words.strip() else words
    text.parts.append(lowered(words) if height == OFF else raised)
    text.linked += len(words.strip()) * is_linked


def _is_furniture(node: LexborNode, tag: str, root: LexborNode) -> bool:
    """Whether an element belongs to the site and not to the page: menus, banners, notices about cookies."""
    if tag in _FURNITURE:
        return True
    if tag in ("body", "main", "article", "html") or node.mem_id == root.mem_id:
        return False
    given = node.attributes
    names = f"{given.get('class') or ''} {given.get('id') or ''}".split()
    return (given.get("role") or "") in _FURNITURE_ROLES or any(_FURNITURE_NAMES.fullmatch(name) for name in names[:20])


def _height(node: LexborNode, sheet: _Sheet) -> str:
    """``ON`` where an element raises its text, ``OFF`` where it lowers it, ``_LINKED`` where it links to a note."""
    given, tag = node.attributes, node.tag or ""
    style = declarations((given.get("style") or "")[:2000])
    if tag == "sub" or lowers(style) or node.mem_id in sheet.lowered:
        return OFF
    if tag == "sup" or raises(style) or node.mem_id in sheet.raised or (given.get("role") or "") in _NOTE_ROLES:
        return ON
    if tag in _INLINE and any(_MARK_CLASS.fullmatch(name) for name in (given.get("class") or "").split()[:20]):
        return ON if len(node.text(deep=True) or "") <= _LONGEST_MARK else ""
    page, sign, place = (given.get("href") or "").partition("#") if tag == "a" else ("", "", "")
    if not sign:
        return ""
    text, names_note = node.text(deep=True) or "", bool(_NOTE.fullmatch(place))
    if (not page and _MARK_IN_BRACKETS.fullmatch(text)) or (names_note and _IN_BRACKETS.fullmatch(text)):
        return ON
    return _LINKED if (names_note or not page) and _MARK.fullmatch(text) else ""


def _is_folded(node: LexborNode, sheet: _Sheet) -> bool:
    """Whether an element is shut until a reader opens it by a click."""
    given = node.attributes
    if node.tag == "details":
        return "open" not in given
    is_shut = (
        "hidden" in given
        or (given.get("aria-hidden") or "").casefold() == "true"
        or node.mem_id in sheet.folded
        or folds(declarations((given.get("style") or "")[:2000]))
    )
    return is_shut and _is_panel(node, sheet)


def _is_panel(node: LexborNode, sheet: _Sheet) -> bool:
    """Whether something on the page opens an element: it is a tab's, is named by a button, or follows one."""
    given = node.attributes
    if given.get("role") == "tabpanel" or (given.get("id") or "") in sheet.panels - {""}:
        return True
    if (given.get("hidden") or "").casefold() == "until-found":
        return True
    before = _element_before(node)
    if before is None:
        return False
    openers = [before, *before.css("button")[:2]] if before.tag in _HEADED else [before]
    if before.tag == "label":  # of a box that a style reads, as pages without scripts do it
        box = _element_before(before)
        return box is not None and box.tag == "input" and box.attributes.get("type") in ("checkbox", "radio")
    return any(
        one.tag in _OPENER_TAGS or "aria-expanded" in one.attributes or one.attributes.get("role") == "button"
        for one in openers
    )


def _element_before(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before


def _is_hidden(node: LexborNode, style: Declarations, sheet: _Sheet) -> bool:
    given = node.attributes
    if _is_folded(node, sheet):
        return hides({name: value for name, value in style.items() if not folds({name: value})})
    return (
        "hidden" in given
        or (given.get("aria-hidden") or "").casefold() == "true"
        or node.mem_id in sheet.hidden
        or hides(style)
        or (node.tag == "font" and given.get("size") == "0")
    )


def _look(node: LexborNode, style: Declarations, sheet: _Sheet, outer: _Look) -> _Look:
    """How text directly in this element looks, as far as its page says."""
    font = {"color": node.attributes.get("color") or "", "background-color": node.attributes.get("bgcolor") or ""}
    is_coloured = node.mem_id in sheet.coloured or has_background(style) or has_background(font)
    if "color" in style or font["color"]:
        return _Look(is_white(style) or is_white(font), is_coloured or outer.is_on_colour)
    return _Look(node.mem_id in sheet.white or outer.is_white, is_coloured or outer.is_on_colour)
