"""What Antiphon asks of vLLM, asked of a real one: drafts, probabilities, schemas, an adapter, and what it hides."""

from __future__ import annotations

import asyncio
import json

import aiohttp
import jsonschema
import psutil
import pytest

from bot.serving.vllm.canary import Canary, drift
from bot.serving.vllm.failures import ServerFailed
from bot.serving.vllm.measures import parse
from bot.serving.vllm.versions import vllm_version
from core.errors import ModelAway, ModelUnavailable
from core.ports import Generation, Message
from core.scoring import triplets
from core.stages import reading
from tests.fakes.vllm.proxy import before
from tests.vllm.conftest import KEY, TALKATIVE, Running
from tools.vllm.environment import VLLM_VERSION

pytestmark = pytest.mark.asyncio(loop_scope="module")
PROMPT = [Message("system", "You answer briefly."), Message("user", "Name three fruits.")]
WORD = "zanzibarite"
"""Of no prompt but these tests'."""


async def test_it_is_ready_with_its_version_and_canary(running: Running) -> None:
    assert f"(vLLM {VLLM_VERSION}" in running.told[-1]
    assert await vllm_version(running.options.base_url, KEY) is not None
    assert len(list((running.folder / "canary").iterdir())) == 1


async def test_it_writes_one_answer_or_several(running: Running) -> None:
    model = running.model()
    one = await model.generate(PROMPT, Generation(max_tokens=12), TALKATIVE)
    several = await model.generate(PROMPT, Generation(max_tokens=12, n=3, temperature=0.8, seed=1), TALKATIVE)
    await model.close()
    assert one.texts[0].strip()
    assert (len(several.texts), len(set(several.texts)) > 1) == (3, True)
    assert several.completion_tokens > one.completion_tokens
    assert several.prompt_tokens == one.prompt_tokens > 10


async def test_it_gives_the_shares_of_one_token_answers(running: Running) -> None:
    model = running.model()
    shares, answer = await model.choose(
        [Message("user", "Is Rome in Italy? Answer yes or no.")], ("yes", "no"), TALKATIVE
    )
    await model.close()
    assert shares is not None
    assert sum(shares.values()) == pytest.approx(1)
    assert shares["yes"] > 0.5
    assert answer.completion_tokens == 1


@pytest.mark.parametrize("schema", [reading.SCHEMA, triplets.SCHEMA], ids=["reading", "triplets"])
async def test_it_obeys_our_schemas(running: Running, schema: dict[str, object]) -> None:
    model = running.model()
    ask = [Message("system", "Answer briefly, in JSON."), Message("user", "Describe: 'The train is late.'")]
    answer = await model.generate(ask, Generation(max_tokens=300, schema=schema), TALKATIVE)
    await model.close()
    jsonschema.validate(json.loads(answer.texts[0]), schema)


async def test_an_adapter_answers_by_the_name_of_its_hash_and_otherwise(running: Running) -> None:
    async with running.asking() as asking:
        names = {one["id"] for one in await asking.models() or ()}
        alone = await asking.first_tokens(running.options.name, "Name a colour.")
        adapted = await asking.first_tokens(running.adapter.name, "Name a colour.")
    assert names == {"small", running.adapter.name}
    assert running.adapter.name.startswith("writer-")
    assert drift([alone], [adapted]).mean > 0.01


async def test_its_measures_are_read_by_their_present_names(running: Running) -> None:
    async with running.asking() as asking:
        measures = parse(await asking.measures(), 0)
    assert measures.generated > 20
    assert measures.queried > measures.hits > 0
    assert 0 <= measures.cache_full <= 1


async def test_it_listens_on_this_machine_alone_and_shows_no_documentation(running: Running) -> None:
    places = [one.laddr for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN and one.laddr]
    assert {place.ip for place in places if place.port == running.options.port} == {"127.0.0.1"}
    async with aiohttp.ClientSession(running.options.root) as nobody:
        for route, status in {"/v1/models": 401, "/docs": 404, "/openapi.json": 404, "/sleep": 404}.items():
            async with nobody.get(route) as answer:
                assert (route, answer.status) == (route, status)
        async with nobody.post("/v1/load_lora_adapter", json={"lora_name": "x", "lora_path": "y"}) as answer:
            assert answer.status == 401
        async with nobody.post(
            "/v1/load_lora_adapter",
            json={"lora_name": "x", "lora_path": "y"},
            headers={"Authorization": f"Bearer {KEY}"},
        ) as answer:
            assert answer.status == 404


async def test_its_log_holds_no_prompt_and_no_key(running: Running) -> None:
    """Neither of a call that is answered nor of one that is refused."""
    model = running.model()
    await model.generate([Message("system", WORD), Message("user", WORD)], Generation(max_tokens=2), TALKATIVE)
    with pytest.raises(ModelUnavailable):
        await model.generate([Message("user", f"{WORD} " * 5000)], Generation(max_tokens=2), TALKATIVE)
    await model.close()
    async with aiohttp.ClientSession(headers={"Authorization": f"Bearer {KEY}"}) as client:
        wrong = {"model": "small", "messages": [{"role": "user", "content": [{"type": WORD}]}]}
        async with client.post(f"{running.options.base_url}/chat/completions", json=wrong) as answer:
            assert answer.status == 400
    assert "HTTP/1.1" not in running.log
    assert WORD not in running.log
    assert KEY not in running.log


async def test_other_calls_at_the_same_time_are_within_the_canarys_noise(running: Running) -> None:
    """The figure in docs/running/gpu.md: what a busy server's answers differ by from those of an idle one."""
    canary = Canary(running.options, running.folder / "noise")
    async with running.asking() as asking:
        idle = await canary.answers(asking, running.options.name)
        model = running.model()
        how = Generation(max_tokens=48, n=4, temperature=1.0, seed=3)
        busy = [asyncio.create_task(model.generate(PROMPT, how, TALKATIVE)) for _ in range(3)]
        await asyncio.sleep(1)
        found = drift(idle, await canary.answers(asking, running.options.name))
        await asyncio.gather(*busy)
        await model.close()
    print(f"noise beside 12 answers: {found.mean:.4f} nats on average, {found.worst:.4f} at most")  # noqa: T201
    assert found.is_noise


async def test_a_server_that_is_overloaded_slow_or_away_is_told_apart(running: Running) -> None:
    """Through a proxy before the real server."""
    async with before(running.options.root) as proxy:
        model = running.model(base_url=f"{proxy.root}/v1", timeout_seconds=2)
        for status in (429, 503):
            proxy.status = status
            with pytest.raises(ModelAway, match=str(status)):
                await model.generate(PROMPT, Generation(max_tokens=1), TALKATIVE)
        proxy.status = None
        proxy.delay_seconds = 30
        with pytest.raises(ModelUnavailable, match="did not answer within 2 seconds") as late:
            await model.generate(PROMPT, Generation(max_tokens=1), TALKATIVE)
        assert not isinstance(late.value, ModelAway)
        await model.close()
        proxy.delay_seconds = 0
        model = running.model(base_url=f"{proxy.root}/v1")
        assert (await model.generate(PROMPT, Generation(max_tokens=1), TALKATIVE)).texts
    with pytest.raises(ModelAway, match="cannot be reached"):
        await model.generate(PROMPT, Generation(max_tokens=1), TALKATIVE)
    await model.close()


async def test_the_canary_is_well_until_what_was_kept_is_other(running: Running) -> None:
    """A planted mismatch ends the watch: the server is not to be trusted, and stays up to be drained."""
    kept = next((running.folder / "canary").iterdir())
    text = kept.read_text()
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(20):
            await running.server.watch()
    answers = json.loads(text)
    kept.write_text(
        json.dumps(
            {
                name: [{token: value - 0.5 for token, value in one.items()} for one in all_]
                for name, all_ in answers.items()
            }
        )
    )
    with pytest.raises(ServerFailed, match="answers otherwise than before") as caught:
        await running.server.watch()
    kept.write_text(text)
    assert caught.value.is_wrong
    assert running.server.is_running
