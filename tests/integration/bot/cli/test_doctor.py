"""``antiphon doctor``: what it says of the models, and of itself."""

from pathlib import Path

from bot.cli.doctor.checks import examine_models
from bot.settings import Settings, load_settings


def _settings(config: Path, url: str) -> Settings:
    model = {"ANTIPHON__LLM__BACKEND": "server", "ANTIPHON__LLM__BASE_URL": url, "ANTIPHON__LLM__MODEL": "m"}
    return load_settings(config, model)


async def test_the_judge_is_as_well_as_the_model_that_judges(config: Path) -> None:
    """Where the writer compares the drafts, nobody compares them while it is away."""
    writer, judge = await examine_models(_settings(config, "http://127.0.0.1:9/v1"))
    assert (writer.name, writer.ok) == ("language model", False)
    assert (judge.name, judge.ok) == ("judge", False)
    assert "compares the drafts" in judge.detail
    assert judge.remedy == writer.remedy
    assert "llm.base_url" in judge.remedy
