"""A trial of models that read, compare and write well or badly, and what drafts do with what it found."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from bot.cli.doctor.checks import examine_trial
from bot.compose.models import languages_alone, open_pooling, voice_of, writer_of
from bot.settings import Settings, load_settings
from bot.trial.trial import (
    LabelledPost,
    known_pairs,
    known_readings,
    sample_posts,
    trial_of,
    try_drafts,
    try_pairs,
    try_readings,
)
from bot.trial.verdicts import EMBEDDED, Share, Trial, keep
from core.engine.llm.prompts import quoted
from core.engine.pipeline import Engine
from core.engine.ports import EvidenceSource, Message
from core.engine.readers.networks import Readers
from core.engine.readers.pooling import PoolingWeights, shipped
from core.engine.request import Request, Voice
from core.errors import ModelAway
from core.models import ReadBy
from tests.fakes.engine.brief import ALL_SHOWN, PATIENT, POST, post_of
from tests.fakes.engine.larger import FIRST, LARGER, analysed, larger_model, lettered
from tests.fakes.engine.model import FakeModel
from tests.fakes.engine.router import router_to

FRENCH = "Les migrants ne viennent ici que pour vivre de nos aides sociales."
WRITTEN = "Ceux qui arrivent ici travaillent et cotisent comme tout le monde. De quels voisins parles-tu ?"


def _answers(messages: Sequence[Message], *, fails_in: str = "") -> bool:
    """Whether the post in a prompt is hateful; the other way round in one language."""
    (known,) = [one for one in known_readings() if quoted(one.text) in messages[-1].content]
    return known.is_hateful is not (known.language == fails_in)


def _reads(fails_in: str = "") -> Callable[[Sequence[Message]], str]:
    return lambda messages: analysed(hateful="yes" if _answers(messages, fails_in=fails_in) else "no")


def _prefers(better: bool) -> Callable[[Sequence[Message]], str]:
    """A reviewer that puts the better reply first, or always the one that it reads first."""

    def answer(messages: Sequence[Message]) -> str:
        texts = lettered(messages)
        good = {pair.better for pair in known_pairs()}
        order = sorted(texts, key=lambda letter: texts[letter] not in good) if better else list(texts)
        fit = {"faults": [], "answers": "whole", "passage": "none", "states": "no", "publish": "yes", "mend": ""}
        return json.dumps({"drafts": [{"draft": letter} | fit for letter in texts], "order": order})

    return answer


async def test_a_larger_model_is_asked_as_it_is_for_drafts() -> None:
    """Its readings count by language, and a reviewer that prefers what it reads first is not fit to judge."""
    model = larger_model(analysis=_reads("eu"), review=_prefers(better=True))
    readings = await try_readings(model, LARGER)
    assert readings == {"en": Share(10, 10), "es": Share(10, 10), "it": Share(10, 10), "eu": Share(0, 10)}
    assert await try_pairs(model, LARGER) == Share(8, 8)
    assert await try_pairs(larger_model(review=_prefers(better=False)), LARGER) == Share(0, 8)
    assert model.calls == {"analysis": 40, "review": 16}


async def test_the_model_that_ships_is_asked_by_letters() -> None:
    """As for drafts; one that always says yes is not fit to read."""
    yes = FakeModel(shares={"hateful": {"yes": 0.9, "no": 0.1}})
    assert set((await try_readings(yes, shipped())).values()) == {Share(5, 10)}
    right = FakeModel(shares={"hateful": lambda messages, _: {"yes": float(_answers(messages)), "no": 0.0}})
    assert set((await try_readings(right, shipped())).values()) == {Share(10, 10)}
    assert await try_pairs(yes, shipped()) == Share(0, 8)


async def test_an_answer_that_cannot_be_read_is_a_wrong_one_and_a_model_that_is_away_ends_the_trial() -> None:
    assert set((await try_readings(larger_model(analysis="I would rather not."), LARGER)).values()) == {Share(0, 10)}
    with pytest.raises(ModelAway):
        await try_readings(FakeModel(down=True), LARGER)


async def test_drafts_count_for_the_language_that_they_are_written_in(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """One reply in English for every post is no reply in Spanish; calls and tokens are averages."""
    engine = Engine(larger_model(), knowledge, lenient, writer=LARGER, pooling=LARGER, router=router_to())
    tried = await try_drafts(engine, sample_posts()[:2], PATIENT, Voice())
    assert [one.language for one in tried] == [language for language, _ in sample_posts()[:2]] == ["en", "es"]
    assert [one.draft and one.draft.text for one in tried] == [FIRST, None]
    trial = trial_of("a", "m", [], {}, Share(), tried)
    assert trial.drafts == {"en": Share(1, 1), "es": Share(0, 1)}
    assert trial.calls == sum(one.suggestion.cost.model_calls for one in tried) / 2
    assert trial.tokens_in > trial.tokens_out > 0


async def test_a_post_that_the_deadline_cut_off_is_told_and_not_counted(
    lenient: Readers, knowledge: EvidenceSource
) -> None:
    """A model that answers in time and writes nothing is unfit all the same."""
    for model, profile, counted in (
        (larger_model(), replace(PATIENT, deadline_seconds=0.001), Share()),
        (larger_model(plain=""), PATIENT, Share(0, 1)),
    ):
        engine = Engine(model, knowledge, lenient, writer=LARGER, pooling=LARGER, router=router_to())
        tried = await try_drafts(engine, [("en", POST)], profile, Voice())
        trial = trial_of("a", "m", [], {}, Share(), tried)
        assert (tried[0].is_fit, tried[0].is_finished) == (False, counted.of == 1)
        assert trial.drafts == {"en": counted}
        assert trial.unfinished == ({} if counted.of else {"en": 1})
        assert any("too slow" in said for said in trial.verdict()) != bool(counted.of)


def _settings(**more: str) -> Settings:
    values = {"BACKEND": "server", "BASE_URL": "http://127.0.0.1:9/v1", "MODEL": "m"}
    return load_settings(
        None, {"XDG_CONFIG_HOME": "/nowhere"} | {f"ANTIPHON__LLM__{k}": v for k, v in values.items()} | more
    )


def test_what_was_found_holds_for_that_model_at_that_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damaged file is as none."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    settings = _settings()
    assert open_pooling(settings).unread == frozenset()
    unfit = {"en": Share(10, 10), "eu": Share(4, 10)}
    keep(settings.trials_file, Trial("http://127.0.0.1:10/v1", "m", "2026-11-29", readings=unfit))
    assert open_pooling(settings).unread == frozenset()
    keep(settings.trials_file, Trial("http://127.0.0.1:9/v1", "m", "2026-11-29", readings=unfit))
    assert open_pooling(settings).unread == {"eu"}
    settings.trials_file.write_text("no JSON")
    assert open_pooling(settings).unread == frozenset()


async def test_a_community_gets_the_languages_that_its_model_is_fit_for_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it names beside them is told by the doctor; the model that ships is let alone in none."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    settings = _settings(ANTIPHON__COMMUNITY__LANGUAGES="fr,de,es")
    assert voice_of(settings).also == frozenset()
    assert not (await examine_trial(settings)).ok
    both = {"fr": Share(10, 10), "nl": Share(10, 10), "es": Share(10, 10)}
    keep(settings.trials_file, Trial("http://127.0.0.1:9/v1", "m", "2026-11-29", readings=both, drafts=both))
    assert languages_alone(settings) == {"fr", "nl"}
    assert voice_of(settings).also == {"fr"}
    assert "fit to read and write de:" in (await examine_trial(settings)).detail
    assert (await examine_trial(_settings(ANTIPHON__COMMUNITY__LANGUAGES="fr"))).ok
    ships = load_settings(None, {"XDG_CONFIG_HOME": "/nowhere"})
    keep(ships.trials_file, Trial(EMBEDDED, writer_of(ships).model, "2026-11-29", readings=both, drafts=both))
    assert languages_alone(ships) == frozenset()


async def test_drafts_in_a_language_of_ones_own_are_tried_too(lenient: Readers, knowledge: EvidenceSource) -> None:
    """The community's own posts come first, two of a language."""
    known = [LabelledPost(f"{FRENCH} {at}", "fr", is_hateful=at < 3) for at in range(5)]
    posts = sample_posts(known)[:2]
    assert [language for language, _ in posts] == ["fr", "fr"]
    engine = Engine(larger_model(plain=WRITTEN), knowledge, lenient, writer=LARGER, pooling=LARGER, router=router_to())
    tried = await try_drafts(engine, posts, PATIENT, Voice())
    assert [one.draft and one.draft.text for one in tried] == [WRITTEN, WRITTEN]


@pytest.mark.parametrize("unread", ["en", "eu"])
async def test_the_small_readers_read_alone_where_a_model_is_unfit(
    lenient: Readers, knowledge: EvidenceSource, unread: str
) -> None:
    """Of that language alone, which is said; the model writes all the same."""
    model = larger_model()
    pooling = PoolingWeights("a larger model", unread=frozenset({unread}))
    engine = Engine(model, knowledge, lenient, writer=LARGER, pooling=pooling, router=router_to("migrants/benefits"))
    found = await engine.suggest(Request(post_of(POST), PATIENT, ALL_SHOWN))
    assert model.calls["analysis"] == (unread != "en")
    assert found.reading.read_by is (ReadBy.SMALL if unread == "en" else ReadBy.BOTH)
    assert any("a larger model was found unfit to read English" in note for note in found.degraded) == (unread == "en")
    assert FIRST in {draft.text for draft in found.drafts}
