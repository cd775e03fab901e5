"""What the doctor says of several model servers: each has a line of its own."""

from __future__ import annotations

import pytest

from bench.measuring.model_server import MODEL, StandIn
from bot.cli.operating.doctor.models import examine_models
from bot.compose.settings.drafting import JudgeSettings, LlmSettings
from bot.compose.settings.settings import Settings


@pytest.mark.parametrize("is_judged_apart", [False, True])
async def test_each_server_is_named_with_what_is_wrong_with_it(is_judged_apart: bool) -> None:
    """The good ones are good, the bad one has its remedy; the judge is found where one that writes is well."""
    async with (
        StandIn(word="Yes").running() as one,
        StandIn(trouble=401).running() as other,
        StandIn(word="Yes").running() as third,
    ):
        urls = [server.url for server in (other, one, third)]
        llm = LlmSettings(backend="server", base_url=tuple(urls), model=MODEL)
        judge = JudgeSettings(base_url=tuple(urls[:2]) if is_judged_apart else (), model=MODEL)
        found = await examine_models(Settings(llm=llm, judge=judge))
    writers, judges = found[:3], found[3:]
    assert [(finding.name, finding.ok) for finding in writers] == [
        (f"language model at {url}", url != urls[0]) for url in urls
    ]
    assert "ANTIPHON__LLM__API_KEY" in writers[0].remedy
    apart = [(f"judge at {urls[0]}", False), (f"judge at {urls[1]}", True)]
    assert [(finding.name, finding.ok) for finding in judges] == (apart if is_judged_apart else [("judge", True)])
