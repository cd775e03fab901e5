"""Whether a text is code or data: JSON, SQL, markup or a program.

Owns the shapes of lines. It prefers to find too little: what a person says must never be taken for code, with signs
instead of letters, in a frame for code or with a line of it.
"""

from __future__ import annotations

import json
import re
from typing import Final

_FENCE: Final = re.compile(r"^\s*```\w*\s*$|```\w*|`")
_LEAST_SHARE: Final = 0.6
"""How many of the lines must look like code; comments and texts between them are people's words, too."""

_FIRST_FIELD: Final = re.compile(r"\A[\[{\s]*\{\s*\"[\w-]+\"\s*:")
"""How a part of a JSON document begins."""
_SQL: Final = re.compile(
    r"\A\s*(?:SELECT\s.+?\sFROM\s+\S+|INSERT\s+INTO\s+\S.*?\bVALUES\b|UPDATE\s+\S+\s+SET\s+\S+\s*=|DELETE\s+FROM\s+\S+"
    r"|(?:CREATE|DROP|ALTER)\s+(?:TABLE|INDEX|VIEW|DATABASE)\s+\S+)",
    re.IGNORECASE | re.DOTALL,
)
_SQL_SIGN: Final = re.compile(r"[=*;]|\w\s?\(|\w,\s*\w+\s+FROM\b", re.IGNORECASE)
_LINE: Final = re.compile(
    r"\A(?:"
    r"[{}\[\]()<>/;,]+"  # only brackets
    r"|[\"'][\w$ -]+[\"']\s*:\s*.+"  # a field of JSON
    r"|</?[a-zA-Z][\w-]*(?:\s[^<>]*)?/?>.*"  # a tag
    r"|[\w$.\[\]\"']++(?:\s*+:[\w\[\],|\s]++)?\s*+(?:[-+*/|&%:]|\*\*)?=\s*(?:\S.*)?[\w\])}\"';,{(\[]"  # an assignment
    r"|(?:(?:await|return|yield|throw|new|raise)\s+)?[a-zA-Z_$][\w$]*(?:(?:\.|::|->)[\w$]+)*\(.*\)?[;,:{]?"  # a call
    r"|(?:(?:export|default|public|private|protected|static|async|final)\s+)*"
    r"(?:def|class|fn|func|function|struct|interface|enum|void|int|float|double|bool|char|string)\s+\w.*[({:;=].*"
    r"|(?:const|let|var|val)\s[\w{},\[\]\s]+=.*"
    r"|(?:if|elif|while|for|switch|catch|with)(?=.*(?:[=<>!]=|[<>()]|\bin\b)).*[:{;]"
    r"|\}?\s*(?:else|try|finally|do)\s*[:{]"
    r"|#\s*include\s*[<\"].*|(?:import|from)\s[\w.*{},\s]+(?:\s(?:import|from|as)\s.+)?;?|using\s+[\w.]+;"
    r"|(?:return|break|continue|pass)(?:\s+[\w.\"'\[\]]+)?\s*;?"
    r"|(?:\$|>>>|sudo|#!)\s*\S.*|//.*|/\*.*|\*/|.*\S\s*=>\s*[{(\w].*)"
)
_ALONE: Final = re.compile(
    r"\A(?:(?=.*=).*;|(?=.*\w\().*\)[;}]|(?=.*\w\([\"'\d]).*\)|.*\w\(\)|(?=.*\w\.\w+\().*\)|.*</\w+>)"
)
"""One line without lines beside it: "migrants = criminals" are words, as is "women (all of them)"."""
_STRONG: Final = re.compile(r"\w\(|[{}]|=\s*\S|</\w|;\s*$", re.MULTILINE)
"""Signs without which lines that look like code are words: "import them all"."""


def is_code(text: str) -> bool:
    """Whether a text as a whole is code or data."""
    bare = _FENCE.sub("", text).strip()
    return _is_json(bare) or _is_sql(bare) or _is_program(bare)


def _is_json(text: str) -> bool:
    if text[:1] not in {"{", "["}:
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return _FIRST_FIELD.match(text) is not None
    return True


def _is_sql(text: str) -> bool:
    return _SQL.match(text) is not None and _SQL_SIGN.search(text) is not None


def _is_program(text: str) -> bool:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not _STRONG.search(text) or (len(lines) == 1 and _ALONE.fullmatch(lines[0]) is None):
        return False
    like = sum(_LINE.fullmatch(line) is not None for line in lines)
    return like >= _LEAST_SHARE * len(lines)
