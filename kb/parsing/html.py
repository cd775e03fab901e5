"""The text of a web page that people see, without scripts, styles, hidden text and menus.

Hidden text can only be recognised in the tree that Lexbor (selectolax) makes, with its styles. So the main text is
chosen here too, not by a library afterwards. What a person opens by a click is text of the page: a closed ``details``,
a panel below a button, a tab. A note says how much that is.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from kb.parsing.file_kinds import decoded
from kb.parsing.raw_text import OFF, ON, STRUCK, Raw, join_row, lowered

Declarations = dict[str, str]

_MOST_RULES = 2000
_LEAST_POINTS = 2.0
_POINTS = {"px": 0.75, "pt": 1.0, "em": 12.0, "rem": 12.0, "ex": 6.0, "%": 0.12, "": 0.75, "cm": 28.3, "mm": 2.83}
_LEAST_RISE = 2.0  # points
_AWAY = -500.0  # points left of or above the page

_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ZERO = re.compile(r"0*\.?0*%?(?<=[0%])")
_BRACE = re.compile(r"[{}]")
_SCALED = re.compile(r"(scale(?:3d|x|y)?|matrix)\(([^()]*)\)")
_UP = frozenset({"super", "top", "text-top"})
_CLIPPED = re.compile(r"rect\((?:0|1px)|inset\((?:50|100)%")
_LENGTH = re.compile(r"([-+]?\d*\.?\d+)\s*([a-z%]*)")
_CHANNELS = re.compile(r"rgba?\(([^()]*)\)")
_NO_COLOUR = frozenset({"", "none", "transparent", "inherit", "initial", "unset", "currentcolor", "auto"})


def declarations(style: str) -> Declarations:
    """What a style says, property to value, both in lower case."""
    properties: Declarations = {}
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if colon:
            properties[name.strip().casefold()] = value.replace("!important", "").strip().casefold()
    return properties


def rules(sheet: str) -> Iterator[tuple[str, Declarations]]:
    """The plain rules of a style sheet, as selector and declarations, at most 2,000; none from inside an @ rule."""
    text = _COMMENT.sub(" ", sheet)
    start = body = depth = count = 0
    for brace in _BRACE.finditer(text):
        if brace.group() == "{":
            depth += 1
            body = brace.end() if depth == 1 else body
            continue
        depth = max(depth - 1, 0)
        if depth == 0:
            selector = text[start : body - 1].rpartition(";")[2].strip()
            if selector and not selector.startswith("@"):
                count += 1
                yield selector, declarations(text[body : brace.start()])
            start = brace.end()
        if count >= _MOST_RULES:
            return


def hides(style: Declarations) -> bool:
    """Whether these declarations alone make a text invisible, whatever is around it."""
    if style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse"):
        return True
    if style.get("content-visibility") == "hidden" or _ZERO.fullmatch(style.get("opacity", "")):
        return True
    if _is_scaled_away(style.get("transform", "")) or _ZERO.fullmatch(style.get("scale", "").partition(" ")[0]):
        return True
    if (size := _points(style.get("font-size"))) is not None and size < _LEAST_POINTS:
        return True
    if _CLIPPED.search(style.get("clip", "") + style.get("clip-path", "")):
        return True
    cut = style.get("overflow", style.get("overflow-x", style.get("overflow-y"))) in ("hidden", "clip")
    if cut and any(_is_tiny(style.get(side)) for side in ("height", "width", "max-height", "max-width")):
        return True
    if any((_points(style.get(side)) or 0.0) < _AWAY for side in ("left", "top", "text-indent", "margin-left")):
        return True
    ink = colour(style.get("color", ""))
    return ink == () or (ink is not None and ink == colour(paper(style)))


def _is_scaled_away(transform: str) -> bool:
    for name, arguments in _SCALED.findall(transform):
        sizes = [size.strip() for size in arguments.split(",")]
        if any(_ZERO.fullmatch(size) for size in (sizes[::3] if name == "matrix" else sizes[:2])):
            return True
    return False


def folds(style: Declarations) -> bool:
    """Whether a style hides an element in a way that a button can undo: pages fold their panels so."""
    is_shut = style.get("display") == "none" or style.get("visibility") in ("hidden", "collapse")
    return is_shut or any(_is_tiny(style.get(side)) for side in ("height", "max-height"))


def raises(style: Declarations) -> bool:
    """Whether a style puts text above the line, as marks of notes are."""
    height = style.get("vertical-align", "")
    moved = _points(style.get("top")) or -(_points(style.get("bottom")) or 0.0)
    is_moved = style.get("position") == "relative" and _AWAY < moved <= -_LEAST_RISE
    is_small = style.get("font-variant-position") == "super"
    return height in _UP or is_small or (_points(height) or 0.0) >= _LEAST_RISE or is_moved


def lowers(style: Declarations) -> bool:
    """Whether a style puts text below the line."""
    height = style.get("vertical-align", "")
    return height == "sub" or style.get("font-variant-position") == "sub" or (_points(height) or 0.0) <= -_LEAST_RISE


def strikes(style: Declarations) -> bool:
    return "line-through" in style.get("text-decoration", "") + style.get("text-decoration-line", "")


def is_white(style: Declarations) -> bool:
    """Whether the text is white, or so close to it that nobody can read it on white."""
    ink = colour(style.get("color", ""))
    return ink is not None and ink != () and min(ink) >= 245


def has_background(style: Declarations) -> bool:
    """Whether something other than white is behind the text."""
    if re.search(r"url\(|gradient\(", style.get("background", "") + style.get("background-image", "")):
        return True
    behind = colour(paper(style))
    return behind is not None and behind != () and min(behind) < 245


def paper(style: Declarations) -> str:
    """The colour behind a text, as the style writes it, or nothing."""
    return style.get("background-color") or style.get("background", "")


def colour(value: str) -> tuple[int, ...] | None:
    """Red, green and blue from 0 to 255; empty for a transparent colour, ``None`` where the value names none known."""
    value = value.strip()
    if value == "transparent":
        return ()
    if value in _NO_COLOUR:
        return None
    if value.startswith("#"):
        return _from_digits(value[1:].split()[0] if value[1:].split() else "")
    if match := _CHANNELS.search(value):
        numbers = [_number(part) for part in re.split(r"[,\s/]+", match[1].strip()) if part]
        if len(numbers) > 3 and numbers[3] == 0:
            return ()
        return tuple(min(255, round(number)) for number in numbers[:3]) if len(numbers) >= 3 else None
    return _NAMED.get(value.split()[0])


_NAMED = {
    "white": (255, 255, 255),
    "snow": (255, 250, 250),
    "ivory": (255, 255, 240),
    "black": (0, 0, 0),
    "red": (255, 0, 0),
    "green": (0, 128, 0),
    "blue": (0, 0, 255),
    "navy": (0, 0, 128),
    "gray": (128, 128, 128),
    "grey": (128, 128, 128),
}


def _from_digits(digits: str) -> tuple[int, ...] | None:
    if not re.fullmatch(r"[0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8}", digits):
        return None
    if len(digits) < 6:
        digits = "".join(digit * 2 for digit in digits)
    channels = bytes.fromhex(digits)
    return () if len(channels) == 4 and channels[3] == 0 else tuple(channels[:3])


def _number(text: str) -> float:
    match = _LENGTH.match(text)
    return float(match[1]) * (2.55 if match[2] == "%" else 1.0) if match else 255.0


def _points(length: str | None) -> float | None:
    match = _LENGTH.fullmatch(length or "")
    return float(match[1]) * _POINTS[match[2]] if match and match[2] in _POINTS else None


def _is_tiny(length: str | None) -> bool:
    points = _points(length)
    return points is not None and points < 1.0


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
    whole = _visible_text(tree.body, sheet)
    text = whole
    for main in tree.css("main, [role=main], article")[:1]:
        inner = _visible_text(main, sheet)
        if inner.length >= max(_LEAST_MAIN, whole.length // 4):
            text = inner
    return Raw(
        ["\n".join(text.blocks)],
        title=_title(tree),
        author=_meta_text(tree, _PUBLISHERS),
        dated=_meta_text(tree, _DATES),
        hidden=whole.hidden,
        notes=[
            *([f"Text that a reader opens by a click was read: {whole.opened:,} characters."] if whole.opened else []),
            *([STRUCK.format(count=f"{whole.struck:,}")] if whole.struck else []),
        ],
    )


def _title(tree: LexborHTMLParser) -> str | None:
    """What the page calls itself, or its first heading."""
    for name in ("title", "h1"):
        node = tree.css_first(name)
        if node is not None and (text := node.text(deep=name != "title").strip()):
            return text
    return None


def _meta_text(tree: LexborHTMLParser, names: Sequence[str]) -> str | None:
    """What the page's description says under the first of these names that it has."""
    texts: dict[str, str] = {}
    for node in tree.css("meta[content]")[:_MOST_META]:
        attributes = node.attributes
        name = (attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or "").casefold()
        texts.setdefault(name, (attributes.get("content") or "").strip())
    text = next((texts[name] for name in names if texts.get(name)), None)
    if text is None and names is _DATES and (time := tree.css_first("time[datetime]")) is not None:
        return time.attributes.get("datetime")
    return text


def _sheet(tree: LexborHTMLParser) -> _Sheet:
    sheet = _Sheet(panels=_panel_ids(tree))
    for style in tree.css("style"):
        for selector, style_rule in rules(style.text(deep=True)):
            ids = _ids(tree, selector)
            if folds(style_rule):
                sheet.folded |= ids
            if hides(style_rule):
                sheet.hidden |= ids
            if strikes(style_rule):
                sheet.struck |= ids
            if raises(style_rule):
                sheet.raised |= ids
            if lowers(style_rule):
                sheet.lowered |= ids
            if is_white(style_rule):
                sheet.white |= ids
            if has_background(style_rule):
                sheet.coloured |= ids
    return sheet


def _panel_ids(tree: LexborHTMLParser) -> set[str]:
    """The ids that buttons, tabs and labels name; a plain link leads to a place, and opens nothing."""
    ids = set[str]()
    for node in tree.css(_OPENERS)[:_MOST_OPENERS]:
        attributes = node.attributes
        is_plain = node.tag == "a" and not any(
            name in attributes for name in ("role", "data-toggle", "data-bs-toggle", "aria-controls", "aria-expanded")
        )
        for name in _OPENED_BY if not is_plain else ():
            ids |= {name.lstrip("#") for name in (attributes.get(name) or "").split()}
    return ids


def _ids(tree: LexborHTMLParser, selector: str) -> set[int]:
    if ":" in selector:  # a state or a part of an element, such as :hover, not what it is
        return set()
    try:
        return {node.mem_id for node in tree.css(selector)}
    except SelectolaxError:
        return set()


def _visible_text(root: LexborNode, sheet: _Sheet) -> _Text:
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
    attributes = node.attributes
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''}".split()
    return (attributes.get("role") or "") in _FURNITURE_ROLES or any(
        _FURNITURE_NAMES.fullmatch(name) for name in names[:20]
    )


def _height(node: LexborNode, sheet: _Sheet) -> str:
    """``ON`` where an element raises its text, ``OFF`` where it lowers it, ``_LINKED`` where it links to a note."""
    attributes, tag = node.attributes, node.tag or ""
    style = declarations((attributes.get("style") or "")[:2000])
    if tag == "sub" or lowers(style) or node.mem_id in sheet.lowered:
        return OFF
    if tag == "sup" or raises(style) or node.mem_id in sheet.raised or (attributes.get("role") or "") in _NOTE_ROLES:
        return ON
    if tag in _INLINE and any(_MARK_CLASS.fullmatch(name) for name in (attributes.get("class") or "").split()[:20]):
        return ON if len(node.text(deep=True) or "") <= _LONGEST_MARK else ""
    page, sign, place = (attributes.get("href") or "").partition("#") if tag == "a" else ("", "", "")
    if not sign:
        return ""
    text, names_note = node.text(deep=True) or "", bool(_NOTE.fullmatch(place))
    if (not page and _MARK_IN_BRACKETS.fullmatch(text)) or (names_note and _IN_BRACKETS.fullmatch(text)):
        return ON
    return _LINKED if (names_note or not page) and _MARK.fullmatch(text) else ""


def _is_folded(node: LexborNode, sheet: _Sheet) -> bool:
    """Whether an element is shut until a reader opens it by a click."""
    attributes = node.attributes
    if node.tag == "details":
        return "open" not in attributes
    is_shut = (
        "hidden" in attributes
        or (attributes.get("aria-hidden") or "").casefold() == "true"
        or node.mem_id in sheet.folded
        or folds(declarations((attributes.get("style") or "")[:2000]))
    )
    return is_shut and _is_panel(node, sheet)


def _is_panel(node: LexborNode, sheet: _Sheet) -> bool:
    """Whether something on the page opens an element: it is a tab's, is named by a button, or follows one."""
    attributes = node.attributes
    if attributes.get("role") == "tabpanel" or (attributes.get("id") or "") in sheet.panels - {""}:
        return True
    if (attributes.get("hidden") or "").casefold() == "until-found":
        return True
    before = _element_before(node)
    if before is None:
        return False
    openers = [before, *before.css("button")[:2]] if before.tag in _HEADED else [before]
    if before.tag == "label":  # of a box that a style reads, as pages without scripts do it
        box = _element_before(before)
        return box is not None and box.tag == "input" and box.attributes.get("type") in ("checkbox", "radio")
    return any(
        opener.tag in _OPENER_TAGS or "aria-expanded" in opener.attributes or opener.attributes.get("role") == "button"
        for opener in openers
    )


def _element_before(node: LexborNode) -> LexborNode | None:
    before = node.prev
    while before is not None and not before.is_element_node:
        before = before.prev
    return before


def _is_hidden(node: LexborNode, style: Declarations, sheet: _Sheet) -> bool:
    attributes = node.attributes
    if _is_folded(node, sheet):
        return hides({name: value for name, value in style.items() if not folds({name: value})})
    return (
        "hidden" in attributes
        or (attributes.get("aria-hidden") or "").casefold() == "true"
        or node.mem_id in sheet.hidden
        or hides(style)
        or (node.tag == "font" and attributes.get("size") == "0")
    )


def _look(node: LexborNode, style: Declarations, sheet: _Sheet, outer: _Look) -> _Look:
    """How text directly in this element looks, as far as its page says."""
    font = {"color": node.attributes.get("color") or "", "background-color": node.attributes.get("bgcolor") or ""}
    is_coloured = node.mem_id in sheet.coloured or has_background(style) or has_background(font)
    if "color" in style or font["color"]:
        return _Look(is_white(style) or is_white(font), is_coloured or outer.is_on_colour)
    return _Look(node.mem_id in sheet.white or outer.is_white, is_coloured or outer.is_on_colour)
