"""What Antiphon asks of vLLM, asked of a real one: drafts, probabilities, schemas, an adapter, and what it hides."""

import json

import aiohttp
import jsonschema
import psutil
import pytest

from core.engine.ports import Generation, Message
from core.engine.reading import posts
from core.engine.scoring import receipts
from core.errors import ModelAway, ModelUnavailable
from tests.fakes.vllm.proxy import before
from tests.vllm.conftest import KEY, TALKATIVE, Running
from tools.vllm.environment import VLLM_VERSION

pytestmark = pytest.mark.asyncio(loop_scope="module")
PROMPT = [Message("system", "You answer briefly."), Message("user", "Name three fruits.")]
YES_NO = ("yes", "no")
WORD = "zanzibarite"
"""Of no prompt but these tests'."""


async def test_it_is_ready_in_the_version_of_the_environment(running: Running) -> None:
    assert running.told[-1] == "small is ready."
    async with aiohttp.ClientSession(running.server.root) as client, client.get("/version") as answer:
        assert VLLM_VERSION in (await answer.json())["version"]


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


@pytest.mark.parametrize("schema", [posts.SCHEMA, receipts.SCHEMA], ids=["reading", "triplets"])
async def test_it_obeys_our_schemas(running: Running, schema: dict[str, object]) -> None:
    model = running.model()
    ask = [Message("system", "Answer briefly, in JSON."), Message("user", "Describe: 'The train is late.'")]
    answer = await model.generate(ask, Generation(max_tokens=300, schema=schema), TALKATIVE)
    await model.close()
    jsonschema.validate(json.loads(answer.texts[0]), schema)


async def test_an_adapter_answers_by_the_name_of_its_folder_and_otherwise(running: Running) -> None:
    found = []
    for name in ("small", running.server.asked):
        model = running.model(name)
        found.append(await model.choose([Message("user", "Is Rome in Italy? Answer yes or no.")], YES_NO, TALKATIVE))
        await model.close()
    assert running.server.asked == "writer"
    assert found[0][0] != found[1][0]


async def test_its_measures_have_the_names_that_the_dashboard_asks_for(running: Running) -> None:
    async with aiohttp.ClientSession(running.server.root) as client, client.get("/metrics") as answer:
        told = await answer.text()
    for name in ("num_requests_running", "num_requests_waiting", "kv_cache_usage_perc", "generation_tokens_total"):
        assert f"\nvllm:{name}{{" in told


async def test_it_listens_on_this_machine_alone_and_shows_no_documentation(running: Running) -> None:
    places = [one.laddr for one in psutil.net_connections("tcp") if one.status == psutil.CONN_LISTEN and one.laddr]
    assert {place.ip for place in places if place.port == running.vllm.port} == {"127.0.0.1"}
    async with aiohttp.ClientSession(running.server.root) as nobody:
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
        async with client.post(f"{running.base_url}/chat/completions", json=wrong) as answer:
            assert answer.status == 400
    assert "HTTP/1.1" not in running.log
    assert WORD not in running.log
    assert KEY not in running.log


async def test_a_server_that_is_overloaded_slow_or_away_is_told_apart(running: Running) -> None:
    """Through a proxy before the real server."""
    async with before(running.server.root) as proxy:
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
