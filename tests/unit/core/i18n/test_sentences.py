"""Sentences that are said in English until somebody reads them in another language, and the errors made of them."""

import ast
import copy
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from core import errors
from core.desk.rules.approval import CaseState, state_words
from core.desk.rules.roles import OnCase, OnCommunity, Role, refused, role_words
from core.errors import Conflict
from core.i18n.catalogs import LANGUAGES, translated
from core.i18n.sentences import Said, Sentence, from_json, joined, listed, sentence, to_json

ROOT = Path(__file__).parents[4]
MET_BY_PEOPLE = (
    *(ROOT / "adapters" / "discord").rglob("*.py"),
    *(
        ROOT / "core" / "desk" / f"{name}.py"
        for name in (
            "communities/governance", "communities/native_roles", "database/connection",
            "database/postgresql", "drafting/request", "intake", "review/approvals", "review/casework",
            "review/decisions", "rules/approval", "rules/closures", "rules/input_checks",
            "rules/policy", "sending/outbox", "sending/retraction", "store/approvals", "store/cases", "store/holds",
            "store/outbox", "store/people", "store/suggestions",
        )
    ),
    ROOT / "core" / "engine" / "wording" / "final_text.py",
)  # fmt: skip
"""The modules whose errors a moderator's press or a volunteer's command on Discord can meet."""
ONLY_OPERATORS = {
    "A flagged post needs its platform and message id.", "Mend the adapter.",
    "An approved reply is made by core.desk.rules.approval alone.", "Call core.desk.rules.approval.approve.",
    "Nobody approved this reply.", "Approve it as a moderator with a name.",
    "The time of the approval has no time zone.", "Pass an aware datetime.",
    "Discord does not let this bot add commands.",
    "Invite it again with the scopes bot and applications.commands; docs/platforms/discord.md has the link.",
    "Start Antiphon again later; until then the commands stay as they were.",
    "The suggestion holds text that cannot be stored.", "Draft the case again.",
}  # fmt: skip
"""What no press and no command on Discord can meet: mistakes of a program, the start, and what the outbox keeps."""
SHOWN_ON_CARDS = [
    *(
        file
        for room in (
            "core/engine", "core/engine/reading", "core/engine/review", "core/engine/scoring", "core/engine/writing",
             "core/desk/sending", "core/desk/review", "core/desk/drafting",
        )
        for file in sorted((ROOT / room).glob("*.py"))
        if file.stem not in ("judge", "larger", "reviewer")
    ),
    *(
        ROOT / f"{name}.py"
        for name in (
            "bot/compose/engine", "core/desk/upkeep/retention",
            "core/engine/backends/classifiers", "core/engine/backends/embeddings", "core/engine/backends/pretrained",
            "core/engine/servers/chat", "core/engine/llm/budget",
            "core/desk/rules/approval", "kb/search", "kb/shelf/local",
        )
    ),
]  # fmt: skip
"""The modules that make what a card shows of the engine, of an approval, of a send and of a case's end."""
TAKES_NO_SENTENCE = {
    "sentence",
    "compile",
    "debug",
    "error",
    "in_batches",
    "info",
    "reach",
    "run",
    "warning",
    "_call",
    "_recorded",
}
"""What is called with a sentence itself, a pattern, a line for the log, or the name of a transaction or of a call."""
_STATEMENT = re.compile(r"(SELECT|INSERT|UPDATE|DELETE|EXISTS|TRIGGER|TABLE) |\(\w\.\w+ IS ")
"""How SQL begins, which nobody reads; no sentence begins so."""
NOT_ON_CARDS = {
    "An approved reply is made by core.desk.rules.approval alone.",
    "Approve it as a moderator with a name.",
    "Call core.desk.rules.approval.approve.",
    "Nobody approved this reply.",
    "Pass an aware datetime.",
    "The time of the approval has no time zone.",
    "not sent",
    "\n- in this community's own voice: {}",
    "\nA reply of this kind that fits, to be said in other words: {}",
    "Paragraph {} is another one in the index.",
    "Make room or give the rights, or set {} to another place.",
    "Somebody decides about this case just now.",
    "Take again.",
    "The folder {} cannot be made: {}.",
    "The index is older than the library, by {} of its documents.",
    "The index of the words is damaged: {}.",
    "The library was never indexed.",
    "The post: {}\n",
    "drafts that pass the gates: {}",
    "denouncing: it says calmly that talking like this is not acceptable",
    "empathetic: it speaks from the heart for the people who are hurt",
    "for {}, to argue another claim",
    "informative: it gives a reason or the fact of the evidence",
    "its rows",
    "other drafts",
    "positive: it says something good about the people attacked",
    "questioning: one open question that makes readers think and assumes nothing bad",
    "review board: {}",
    "sending again under the same key",
    "somebody looked: it does not stand there",
    "somebody looked: it stands there",
    "to argue another claim",
    "warm, plain and brief",
    "{} folded cases closed",
    "{} is missing or not what was written.",
    "{} without words, {} deleted, {} forgotten",
    "{} words of support",
    "State no figure, study, law or source: give reasons that every reader can follow without one.",
    "more than 0",
    "at least 1",
    "It must be {}.",
    "profiles.{}.{} is out of range.",
    "{} undecided, {} approved too long ago, {} left by people, {} ended, {} left by a second person",
}
"""Prompts, words, lines of the log of cases that are open again, and what only an operator or a
program meets."""
FILLED_FOR_OPERATORS = {
    "adapters/discord/manage/commands.py": 1,
    "core/desk/database/postgresql.py": 2,
    "core/desk/rules/policy.py": 2,
}
"""How many texts with values in them are left in English, by file, for the same reasons."""


def _is_error(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, errors.AntiphonError)


def _said() -> Iterator[tuple[str, ast.expr]]:
    """Every message and remedy that those modules raise, but those of errors that end the program at its start."""
    kinds = {kind.__name__ for kind in vars(errors).values() if _is_error(kind)} - {"BadSettings"}
    for file in sorted(set(MET_BY_PEOPLE)):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in kinds:
                place = file.relative_to(ROOT).as_posix()
                yield from ((place, said) for said in node.args[:1])
                yield from ((place, one.value) for one in node.keywords if one.arg == "remedy")


def test_an_error_that_people_meet_can_be_said_in_their_language() -> None:
    """Its message and remedy are sentences with their templates, not texts that nobody can translate any more."""
    found = list(_said())
    bare = {said.value for _, said in found if isinstance(said, ast.Constant)}
    assert bare <= ONLY_OPERATORS, bare - ONLY_OPERATORS
    assert bare >= ONLY_OPERATORS, "these are said no more"
    filled = [place for place, said in found if isinstance(said, ast.JoinedStr)]
    assert {place: filled.count(place) for place in filled} == FILLED_FOR_OPERATORS
    assert len(found) > 200


def _prose(node: ast.AST) -> Iterator[str]:
    """Every text of more than one word below a node, but docstrings and what ``TAKES_NO_SENTENCE`` is called with."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        text = "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts)
        if re.search(r"[A-Za-z]{2} [a-z]", text) and not _STATEMENT.match(text):
            yield text
        return
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Constant):
        return  # a list of words, split
    called = node.func if isinstance(node, ast.Call) else None
    name = called.attr if isinstance(called, ast.Attribute) else called.id if isinstance(called, ast.Name) else ""
    for child in ast.iter_child_nodes(node):
        inner = child.value if isinstance(child, ast.keyword | ast.Expr) else child
        is_docstring = isinstance(child, ast.Expr) and isinstance(inner, ast.Constant)
        if not is_docstring and not (name in TAKES_NO_SENTENCE and isinstance(inner, ast.Constant | ast.JoinedStr)):
            yield from _prose(child)


def test_what_a_card_shows_can_be_said_in_the_readers_language() -> None:
    """Notes, warnings, faults, reasons and obstacles are made as sentences, in every module that makes any."""
    files = {file: list(_prose(ast.parse(file.read_text()))) for file in SHOWN_ON_CARDS}
    bare = {text for found in files.values() for text in found}
    assert bare - NOT_ON_CARDS == set()
    assert bare >= NOT_ON_CARDS, "these are said no more"
    assert len(files) > 40


def test_a_sentence_is_stored_with_its_template_and_read_back() -> None:
    """As JSON in a model, English where nothing fills it; what was stored as mere text is read, too."""
    form = TypeAdapter(tuple[Said, ...])
    inner = sentence("No evidence holds the figure “{figure}”.", figure="93 %")
    said = (sentence("Nothing is known of this post."), joined(inner, "", "mere text {with} braces"), "mere text")
    document = form.dump_json(said)
    assert json.loads(document)[::2] == ["Nothing is known of this post.", "mere text"]
    read = form.validate_json(document)
    assert read == said
    assert [translated(one, "es") for one in read] == [translated(one, "es") for one in said]
    assert translated(read[1], "es") == "Ninguna prueba contiene la cifra «93 %». mere text {with} braces"
    assert json.dumps(said) == json.dumps([str(one) for one in said]), "in JSON that people read it stays English"


@pytest.mark.parametrize(
    "kept",
    [
        "{}",
        "3",
        '{"template": "{a}", "values": {"b": "1"}}',
        '{"template": "{a.b}", "values": {"a": "1"}}',
        '{"template": "{", "values": {"a": "1"}}',
    ],
)
def test_a_damaged_sentence_is_refused(kept: str) -> None:
    """With the error that any damaged document has, whatever is wrong with it."""
    with pytest.raises(ValidationError):
        TypeAdapter(Said).validate_json(kept)


def test_an_error_is_one_sentence_with_its_remedy() -> None:
    """Both parts are translated; an error without a remedy is its message alone."""
    err = Conflict(sentence("The review channel is gone."), remedy=sentence("Choose another case."))
    assert (err.said, str(err)) == ("The review channel is gone. Choose another case.",) * 2
    assert translated(err.said, "it") == "Il canale di revisione non c'è più. Prendi un altro caso."
    assert Conflict("Taken.").said == "Taken."


def test_a_sentence_is_its_english_text_wherever_nobody_asks_for_another() -> None:
    """In a log, in a terminal, in a database, and after it went through another process."""
    said = sentence("The case is {state}: it does not wait for a person.", state=state_words(CaseState.IN_REVIEW))
    assert said == "The case is in review: it does not wait for a person."
    assert str(Conflict(said, remedy=sentence("Choose another case."))) == f"{said} Choose another case."
    assert (type(str(said)), sentence("A {brace} that nothing fills.")) == (str, "A {brace} that nothing fills.")
    for made in (copy.copy(said), pickle.loads(pickle.dumps(said)), from_json(json.loads(json.dumps(to_json(said))))):
        assert (made, made.template, translated(made, "es")) == (said, said.template, translated(said, "es"))


@pytest.mark.parametrize(
    ("locale", "expected"),
    [
        ("en-GB", "The case is in review: it does not wait for a person."),
        ("es-ES", "El caso está «en revisión»: no espera a nadie."),
        ("it", "Il caso è nello stato «in revisione»: non aspetta nessuno."),
        ("eu", "Kasua honela dago: berrikusten. Ez dago inoren zain."),
        ("fi", "The case is in review: it does not wait for a person."),
        (None, "The case is in review: it does not wait for a person."),
    ],
)
def test_a_sentence_is_translated_with_the_sentences_in_it(locale: str | None, expected: str) -> None:
    """By whoever shows it, in the reader's language."""
    said = sentence("The case is {state}: it does not wait for a person.", state=state_words(CaseState.IN_REVIEW))
    assert translated(said, locale) == expected


def test_what_somebody_wrote_is_never_translated() -> None:
    """A person may be called as a word of ours; only a sentence among the values is looked up."""
    said = sentence("{name} was faster: the case is {state} now.", name="approve", state="{braces}")
    assert translated(said, "es") == "approve fue más rápido: el caso está ahora {braces}."
    assert translated("somebody's own words, {with} braces", "es") == "somebody's own words, {with} braces"


def test_a_sentence_that_was_stored_is_found_again_where_nothing_was_filled_in() -> None:
    """Its English text is its template."""
    assert translated("The review channel is gone.", "it") == "Il canale di revisione non c'è più."


def test_words_in_a_row_are_translated_one_by_one() -> None:
    """Roles, say, or permissions."""
    roles = listed([role_words(Role.ADMIN), role_words(Role.MODERATOR), "a name"])
    assert (roles, translated(roles, "it")) == ("admin, moderator, a name", "amministratore, moderatore, a name")


def test_every_state_role_and_action_has_its_words() -> None:
    said: list[Sentence] = [state_words(state) for state in CaseState]
    said += [role_words(role) for role in Role]
    said += [Sentence(refused(action).message) for action in (*OnCase, *OnCommunity)]
    for language in LANGUAGES[1:]:
        assert [str(one) for one in said if not translated(one, language)] == []
        assert translated(refused(OnCase.APPROVE).message, language) != refused(OnCase.APPROVE).message
