"""``python -m tools.catalogs`` writes new sentences into ``core/i18n/locale``, and loses no translation.

It collects every sentence that people read from the source code, so it is a tool for developers and not part of
Antiphon. A sentence that is no longer in the code stays in its catalog, marked ``#~``, until a translator removes it.
"""

import ast
import json
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel import Locale
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po
from jinja2.ext import babel_extract

from core.i18n.catalogs import LANGUAGES

ROOT: Final = Path(__file__).parent.parent
FOLDER: Final = ROOT / "core" / "i18n" / "locale"
TRANSLATED: Final = LANGUAGES[1:]
_LAYERS: Final = ("adapters", "bot", "core", "kb")
_SHOWN_DATA: Final = (("kb/starter/facts.jsonl", "caution"), ("kb/starter/gaps.jsonl", "why"))
"""The data files with sentences that moderators read: how a fact could mislead, and why there is none."""
_CARDS: Final = "core/engine/cards/data"
"""The files whose stereotypes moderators read, as the gist of a post, and the cautions of their cards."""
_TEMPLATES: Final = "adapters/web/templates"
"""The pages of the dashboard."""
_CALLS: Final = frozenset({"gettext", "locale_str", "sentence"})
_WIDTH: Final = 120
_HEAD: Final = """# Antiphon's sentences in {language}; under the licence of the code.
#
# Written with care, but no native speaker has read them yet: corrections are welcome.
# {names}
# `python -m tools.catalogs` adds new sentences; tests/unit/core/i18n/test_catalogs.py checks them.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Language: {code}\\n"

"""
_NAMES: Final = {
    "eu": "Discord does not speak Basque, so names of commands, options and permissions stand as it shows them.",
    "": "Names of commands and options are small letters without spaces, and sentences call commands by them.",
}


def collected(root: Path = ROOT) -> dict[str, set[str]]:
    """Every sentence that people read, with the files that say it, by their path below ``root``."""
    sentences: dict[str, set[str]] = {}
    for place, call in calls(root):
        sentence = call.args[0] if call.args else None
        if isinstance(sentence, ast.Constant) and isinstance(sentence.value, str):
            sentences.setdefault(sentence.value, set()).add(place)
    for file in sorted((root / _TEMPLATES).glob("*.html")):
        with file.open("rb") as page:
            for _, _, text, _ in babel_extract(page, ("_",), [], {}):
                template = text[0] if isinstance(text, tuple) else text  # its values stand behind it
                sentences.setdefault(str(template), set()).add(f"{_TEMPLATES}/{file.name}")
    for place, field in _SHOWN_DATA:
        for text in _rows(root / place, field):
            sentences.setdefault(text, set()).add(place)
    for file in sorted((root / _CARDS).glob("*.jsonl")):
        gists = [gist["en"] for gist in _rows(file, "gist")]
        cautions = [card["caution"] for cards in _rows(file, "cards") for card in cards if card["caution"]]
        for text in (*gists, *cautions):
            sentences.setdefault(text, set()).add(f"{_CARDS}/{file.name}")
    return sentences


def _rows(file: Path, field: str) -> list[Any]:
    """One field of each line of a file of data, where a line has it."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
    return [value for line in lines if (value := json.loads(line).get(field))]


def uncollectable(root: Path = ROOT) -> list[str]:
    """The files that ask for a translation of something that is not a literal, once for each time."""
    return [
        place
        for place, call in calls(root)
        if not (call.args and isinstance(call.args[0], ast.Constant) and isinstance(call.args[0].value, str))
    ]


def calls(root: Path) -> Iterator[tuple[str, ast.Call]]:
    """Every call that names a sentence, also inside f-strings; the pieces of a sentence are joined."""
    for file in sorted(file for layer in _LAYERS for file in (root / layer).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _name(node.func) in _CALLS:
                yield file.relative_to(root).as_posix(), node


def _name(called: ast.expr) -> str:
    if isinstance(called, ast.Attribute):
        return called.attr
    return called.id if isinstance(called, ast.Name) else ""


def catalog(language: str, folder: Path = FOLDER) -> Catalog:
    """The catalog in the file; an empty one where there is none.

    Raises:
        PoFileError: the file is not a catalog.
    """
    file = folder / f"{language}.po"
    if not file.exists():
        return Catalog(locale=language)
    return read_po(BytesIO(file.read_bytes()), locale=language, abort_invalid=True)


def updated(language: str, sentences: Mapping[str, set[str]], folder: Path = FOLDER) -> bytes:
    """The catalog's file with exactly these sentences to translate; existing translations stay."""
    messages, template = catalog(language, folder), Catalog(locale=language)
    for message in messages.obsolete.values():
        messages.add(message.id, message.string)
    for sentence in sorted(sentences):
        template.add(sentence, locations=[(place, 0) for place in sorted(sentences[sentence])])
    messages.update(template, no_fuzzy_matching=True)
    file = BytesIO()
    write_po(file, messages, width=_WIDTH, omit_header=True, sort_output=True, include_lineno=False)
    return _head(language).encode() + file.getvalue()


def _head(language: str) -> str:
    name = Locale.parse(language).get_display_name("en")
    return _HEAD.format(language=name, code=language, names=_NAMES.get(language, _NAMES[""]))


def main(folder: Path = FOLDER) -> None:
    folder.mkdir(exist_ok=True)
    sentences = collected()
    for language in TRANSLATED:
        (folder / f"{language}.po").write_bytes(updated(language, sentences, folder))


if __name__ == "__main__":
    main()
