"""The applications of mastodon-mock in this process.

Owns what is slow to make and is used again by the next server: the routes of an application, and an empty database.
Nothing that a server wrote is kept.
"""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from fastapi import FastAPI
from mastodon_mock.app import create_app
from mastodon_mock.config import DatabaseConfig, FaultConfig, MastodonMockConfig, SeedConfig
from mastodon_mock.db.base import Base, init_engine, make_session_factory
from mastodon_mock.streaming import EventBus

_idle: list[FastAPI] = []


def take(domain: str, folder: Path) -> FastAPI:
    """An application with an empty database.

    Args:
        domain: of the instance.
        folder: where its database is kept.
    """
    app = _idle.pop() if _idle else _made()
    database = DatabaseConfig(path=str(folder / "home.sqlite"))
    Path(database.path).write_bytes(_empty_database())
    app.state.config = _config(domain, database)
    app.state.engine = init_engine(database)
    app.state.session_factory = make_session_factory(app.state.engine)
    app.state.event_bus = EventBus()
    return app


def give_back(app: FastAPI) -> None:
    """Let the next server have an application; to give one back twice would let two servers share it."""
    assert app not in _idle
    app.state.engine.dispose()
    _idle.append(app)


def _config(domain: str, database: DatabaseConfig) -> MastodonMockConfig:
    return MastodonMockConfig(
        domain=domain,
        title="A home instance",
        email=f"admin@{domain}",
        description="Where the bot lives.",
        database=database,
        faults=FaultConfig(enabled=False),
        media_storage_path=_media_folder(),
        seed=SeedConfig(),
    )


def _made() -> FastAPI:
    app = create_app(_config("nowhere.example", DatabaseConfig(path=":memory:")))
    app.state.resource_finalizer.detach()
    app.state.engine.dispose()
    return app


@cache
def _media_folder() -> str:
    folder = tempfile.mkdtemp(prefix="antiphon_mastodon_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def _empty_database() -> bytes:
    with tempfile.TemporaryDirectory(prefix="antiphon_mastodon_") as folder:
        path = Path(folder) / "empty.sqlite"
        engine = init_engine(DatabaseConfig(path=str(path)))
        Base.metadata.create_all(engine)
        engine.dispose()
        return path.read_bytes()
