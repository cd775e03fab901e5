"""Whether a style hides a text from people who look at it.

Owns the few CSS properties that hide text. It applies no cascade: what an element or a rule says itself counts. It does
not know what scripts and the style sheets of other files do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

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
    found: Declarations = {}
    for part in style.split(";"):
        name, colon, value = part.partition(":")
        if colon:
            found[name.strip().casefold()] = value.replace("!important", "").strip().casefold()
    return found


def rules(sheet: str) -> Iterator[tuple[str, Declarations]]:
    """The plain rules of a style sheet, as selector and declarations, at most 2,000; none from inside an @ rule."""
    text = _COMMENT.sub(" ", sheet)
    start = body = depth = found = 0
    for brace in _BRACE.finditer(text):
        if brace.group() == "{":
            depth += 1
            body = brace.end() if depth == 1 else body
            continue
        depth = max(depth - 1, 0)
        if depth == 0:
            selector = text[start : body - 1].rpartition(";")[2].strip()
            if selector and not selector.startswith("@"):
                found += 1
                yield selector, declarations(text[body : brace.start()])
            start = brace.end()
        if found >= _MOST_RULES:
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
    for name, given in _SCALED.findall(transform):
        sizes = [size.strip() for size in given.split(",")]
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
    """Whether a style draws a line through text."""
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
    if found := _CHANNELS.search(value):
        numbers = [_number(part) for part in re.split(r"[,\s/]+", found[1].strip()) if part]
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
    found = _LENGTH.match(text)
    return float(found[1]) * (2.55 if found[2] == "%" else 1.0) if found else 255.0


def _points(length: str | None) -> float | None:
    found = _LENGTH.fullmatch(length or "")
    return float(found[1]) * _POINTS[found[2]] if found and found[2] in _POINTS else None


def _is_tiny(length: str | None) -> bool:
    points = _points(length)
    return points is not None and points < 1.0
