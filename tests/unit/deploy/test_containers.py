"""The containers run with as few rights as they can, and what one file says of another is true.

No container engine is needed: the files are read as an engine reads them.
"""

import re
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml

from bot.compose.vllm import command_line, environment, served_as
from bot.settings import VllmSettings, load_settings

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
ONE_SHOT = {"migrate"}
_DEFAULT = re.compile(r"^\$\{\w+:-(.*)\}$")


def stage(name: str) -> str:
    [found] = re.findall(rf"^FROM \S+ AS {name}$(.*?)(?=^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_has_no_right_that_it_does_not_need(name: str) -> None:
    """No root, no capability, nothing to write to but what is named, and no password in its environment."""
    service = SERVICES[name]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", service["user"])
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not {"privileged", "cap_add", "pid", "ipc", "devices"} & service.keys()
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    secret = re.compile(r"(PASSWORD|TOKEN|KEY|SECRET)(?!.*_FILE$)")
    assert [key for key in service.get("environment", {}) if secret.search(key)] == []


@pytest.mark.parametrize("name", SERVICES)
def test_a_container_is_looked_after(name: str) -> None:
    """It has a check and is started again, or ends by itself; its image is a certain version."""
    service = SERVICES[name]
    if name in ONE_SHOT:
        assert (service["restart"], service["healthcheck"]) == ("no", {"disable": True})
    else:
        assert service["restart"] == "unless-stopped"
        own = "\nHEALTHCHECK " in stage("base") and "build" in service
        assert own or service["healthcheck"]["test"][0] == "CMD"
    [image] = _DEFAULT.findall(service["image"])
    assert ("build" in service) == image.startswith("antiphon-")
    if "build" not in service:
        assert re.search(r":v?\d+\.\d+(\.\d+)?[\w.-]*$", image)


@pytest.mark.parametrize("name", SERVICES)
def test_what_a_container_names_is_there(name: str) -> None:
    """Networks, volumes, secrets, files beside the compose file, and the containers that it waits for."""
    service = SERVICES[name]
    assert set(service.get("networks", [])) <= COMPOSE["networks"].keys()
    named = [one if isinstance(one, str) else one["source"] for one in service.get("secrets", [])]
    assert set(named) <= COMPOSE["secrets"].keys()
    for volume in service.get("volumes", []):
        source, _, rest = volume.partition(":")
        if source.startswith("."):
            assert (DEPLOY / source).exists()
            assert rest.endswith(":ro")
        else:
            assert source in COMPOSE["volumes"]
    for other, how in service.get("depends_on", {}).items():
        ends = how["condition"] == "service_completed_successfully"
        assert ends == (other in ONE_SHOT)
        if how["condition"] == "service_healthy":
            assert "healthcheck" in SERVICES[other]
        if SERVICES[other].get("profiles") and SERVICES[other]["profiles"] != service.get("profiles"):
            assert how["required"] is False


def option(name: str) -> str:
    """The value of an option of ``vllm serve``."""
    [found] = [word.partition("=")[2] for word in SERVICES["vllm"]["command"] if word.startswith(f"--{name}=")]
    return str(found)


def test_only_the_proxy_reaches_vllm() -> None:
    """They share one network of their own, where vLLM listens on loopback; the proxy asks that port."""
    assert SERVICES["vllm"]["network_mode"] == "service:proxy"
    assert "networks" not in SERVICES["vllm"]
    assert not {"ports", "expose"} & (SERVICES["vllm"].keys() | SERVICES["proxy"].keys())
    assert [name for name, one in SERVICES.items() if "network_mode" in one] == ["vllm"]
    nginx = (DEPLOY / "proxy/nginx.conf").read_text("utf-8")
    assert option("host") == "127.0.0.1"
    assert re.findall(r"^\s*server (\S+);", nginx, re.MULTILINE) == [f"127.0.0.1:{option('port')}"]
    assert COMPOSE["networks"]["model"] == {"internal": True}


def test_vllm_is_started_as_a_worker_would_start_it() -> None:
    """Every option and every variable, so that what is promised of the one holds for the other."""
    served, revision = option("served-model-name"), option("revision")
    vllm = VllmSettings(model=SERVICES["vllm"]["command"][0], revision=revision, start_minutes=60)
    words = iter(command_line(vllm)[3:])
    pairs = {word: value for word in words if word.startswith("--") for value in [_value_of(word, words)]}
    written = dict(word.partition("=")[::2] for word in SERVICES["vllm"]["command"][1:])
    assert written == pairs
    assert served == served_as(vllm)
    asked = environment({}, "key", 3600)
    del asked["VLLM_API_KEY"]  # it comes from a file
    assert asked.items() <= SERVICES["vllm"]["environment"].items()
    assert f"/run/secrets/{SERVICES['vllm']['secrets'][0]}" in SERVICES["vllm"]["entrypoint"][2]


def _value_of(word: str, words: Iterator[str]) -> str:
    """What follows an option on vLLM's command line; "" after one that takes nothing."""
    is_flag = word.startswith(("--disable-", "--enable-", "--no-"))
    return "" if is_flag else next(words)


def test_the_worker_knows_no_token_of_a_platform() -> None:
    """Its secrets are a file of its own, and so are the database's: the superuser's password is nobody's but its."""
    given = {name: [one if isinstance(one, str) else one["source"] for one in service.get("secrets", [])]
             for name, service in SERVICES.items()}  # fmt: skip
    assert given["worker"] == ["worker"]
    assert given["bot"] == given["migrate"] == ["antiphon"]
    assert [name for name, secrets in given.items() if "postgres_password" in secrets] == ["postgres"]
    files = [one["file"] for one in COMPOSE["secrets"].values()]
    assert len(set(files)) == len(files)
    page = (ROOT / "docs/running/containers.md").read_text("utf-8")
    assert [file for file in files if f"deploy/{file.removeprefix('./')}" not in page] == []
    for line in page.splitlines():
        if line.startswith("printf") and "worker.env" in line:
            assert "TOKEN" not in line


def test_vllm_s_measures_are_for_the_monitoring_network() -> None:
    """The proxy names the addresses that the network has."""
    [where] = COMPOSE["networks"]["monitoring"]["ipam"]["config"]
    nginx = (DEPLOY / "proxy/nginx.conf").read_text("utf-8")
    listed = re.search(r"geo \$is_monitoring \{(.*?)\}", nginx, re.DOTALL)
    assert listed
    assert set(re.findall(r"(\S+) 1;", listed[1])) == {"127.0.0.1/32", where["subnet"]}


def test_the_database_and_the_library_have_no_way_out() -> None:
    """Only what speaks to platforms, to the hub or to a browser has."""
    outside = {name for name, how in COMPOSE["networks"].items() if not how.get("internal")}
    reached = {name for name, one in SERVICES.items() if set(one.get("networks", [])) & outside}
    assert reached == {"bot", "proxy", "grafana"}


@pytest.mark.parametrize("name", ["bot", "worker"])
def test_the_settings_that_ship_are_valid(name: str) -> None:
    """They name keys that exist, answer health where the image asks, and no secret."""
    file = DEPLOY / f"settings/{name}.toml"
    settings = load_settings(file, {})
    assert settings.operations.listen == "0.0.0.0:9464"
    assert "9464, timeout=4" in stage("base")
    assert f"./settings/{name}.toml:/etc/antiphon/config.toml:ro" in SERVICES[name]["volumes"]
    grace = int(SERVICES[name]["stop_grace_period"].removesuffix("s"))
    assert grace >= settings.desk.drain_seconds + 30


def test_bot_and_worker_ask_for_the_model_that_is_served() -> None:
    """The worker does, and the bot by what bot.toml says in comments; both through the proxy."""
    text = (DEPLOY / "settings/bot.toml").read_text("utf-8")
    uncommented = re.sub(r"^# (?=\w+ = )", "", text, flags=re.MULTILINE)
    worker = load_settings(DEPLOY / "settings/worker.toml", {}).llm
    llm = tomllib.loads(uncommented)["llm"]
    assert llm["backend"] == worker.backend == "server"
    assert llm["model"] == worker.model == option("served-model-name")
    assert llm["base_url"] == worker.base_url == "http://proxy:8080/v1"
    assert "listen 8080;" in (DEPLOY / "proxy/nginx.conf").read_text("utf-8")
    for name in ("bot", "worker"):
        assert set(SERVICES[name]["networks"]) & set(SERVICES["proxy"]["networks"]) >= {"model"}


def test_the_model_is_a_certain_one() -> None:
    """Its revision is a commit, which the hub cannot change."""
    assert re.fullmatch(r"[0-9a-f]{40}", option("revision"))


def test_the_image_ends_as_an_ordinary_user() -> None:
    """The same one as in the compose file."""
    assert re.findall(r"^USER (\S+)$", stage("bot"), re.MULTILINE) == ["10001:10001"]
    for name in ("bot", "worker"):
        assert SERVICES[name]["user"] == "10001:10001"
    assert "--uid 10001" in stage("base")


def test_every_base_is_a_certain_version() -> None:
    """None is whatever is newest on the day of the build, and every package has a version."""
    stages = set(re.findall(r" AS (\S+)$", DOCKERFILE, re.MULTILINE))
    bases = set(re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)) - stages
    assert bases == {"${PYTHON_IMAGE}"}
    assert re.search(r"^ARG PYTHON_IMAGE=python:3\.\d+\.\d+-slim-\w+$", DOCKERFILE, re.MULTILINE)
    vllm = [line for line in (DEPLOY / "vllm.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert len(vllm) > 100
    assert [line for line in vllm if not re.fullmatch(r"[\w.-]+==[\w.+!-]+", line)] == []


def test_what_is_copied_reaches_the_builder() -> None:
    """It exists, and .dockerignore lets it through; secrets and environments stay outside."""
    lines = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    let_in = [line[1:] for line in lines if line.startswith("!")]
    assert "*" in lines
    copied = [
        source
        for words in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in words.split()[:-1]
    ]
    assert len(copied) > 8
    for source in copied:
        assert (ROOT / source).exists()
        assert any(source == one or source.startswith(f"{one}/") for one in let_in), source
    for kept_out in ("deploy/secrets", ".venv", ".git", "tests", "secrets.env"):
        assert not any(fnmatch(kept_out, one) or kept_out.startswith(f"{one}/") for one in let_in)
