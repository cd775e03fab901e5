"""What is particular to PostgreSQL: durable commits, one clock for all machines, errors without the rows' values."""

import ssl
from datetime import datetime
from typing import Any, Final

import asyncpg
from sqlalchemy import URL, event, make_url, text
from sqlalchemy.exc import ArgumentError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, AsyncSession, create_async_engine

from core.errors import AntiphonError, BadSettings, Conflict, NotAllowed, StoreUnavailable
from core.i18n.sentences import sentence

# What SQLAlchemy does not wrap: whatever the driver raises while it connects, and its protocol's words for a
# connection that ends while a statement is being answered (InternalClientError, without a SQLSTATE).
ERRORS: Final = (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)
_CONNECTIONS: Final = 10
_LEAST_SECONDS: Final = 1.0  # 0 would tell PostgreSQL to wait for ever
_IDLE_SECONDS: Final = 60.0
"""After this time the server ends a transaction whose process is frozen between two statements, and frees its locks."""
_WHOLE: Final = 1.25
"""Times what a statement may take: so much a whole transaction may, so that a slow statement is told as one."""
_WHOLE_SINCE: Final = 17
"""The first version of PostgreSQL that can bound a whole transaction, and not only its statements and its pauses."""
_KEEPALIVES: Final = {"tcp_keepalives_idle": "60", "tcp_keepalives_interval": "15", "tcp_keepalives_count": "4"}
"""After two minutes the server closes connections of a machine that is gone; by default it keeps them for two hours."""

_OPTIONS: Final = (
    "host", "passfile", "port", "prepared_statement_cache_size", "ssl", "sslmode", "sslrootcert",
    "target_session_attrs",
)  # fmt: skip
"""What may follow the ? of an address. ``sslmode`` and ``ssl`` mean the same, by libpq's and by the driver's name."""
_SSL_MODES: Final = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_SYSTEM: Final = "system"
"""The value of ``sslrootcert`` for the authorities that this machine trusts anyway."""

_STOPPED: Final = (
    "the server stops or starts just now",
    "Wait until PostgreSQL is up again; Antiphon goes on by itself.",
)
_DENIED: Final = ("the server refused the user or the password", "Correct both in ANTIPHON__DESK__DATABASE_URL.")
_ANOTHER: Final = ("a table or a column is missing", "Another version made the database; run: antiphon db upgrade.")
_TROUBLES: Final = {
    "08": ("the connection broke", "Check the server and the network between; Antiphon goes on by itself."),
    "25006": ("the server takes no changes", "Connect to the primary PostgreSQL server, not to a standby."),
    "25P": ("a transaction took too long", "See what keeps the server busy; Antiphon tries again by itself."),
    "28": _DENIED,
    "3D000": ("there is no database of this name", "Create it, or correct ANTIPHON__DESK__DATABASE_URL."),
    "42501": ("the user may not do this", "Let the user of ANTIPHON__DESK__DATABASE_URL own the database."),
    "42P01": _ANOTHER,
    "42703": _ANOTHER,
    "53100": ("the disk is full", "Free space on the server's disk; nothing of this change was kept."),
    "53200": ("the server has no memory left", "Give PostgreSQL more memory, or run fewer workers."),
    "53300": ("too many clients", "Give PostgreSQL more connections (max_connections), or run fewer workers."),
    "55P03": ("rows are locked", "Another program holds them; close it, or try again in a moment."),
    "57014": ("a statement took too long", "See what keeps the server busy; Antiphon tries again by itself."),
    "57P": _STOPPED,
}
"""What a SQLSTATE, or those that begin with it, means to the operator."""


def translated(err: BaseException) -> AntiphonError:
    """The project's error for one of the driver's. It repeats nothing of the server's message, which may quote rows."""
    state = str(getattr(err, "sqlstate", None) or "")
    if state in ("40P01", "40001"):
        return Conflict(sentence("Somebody else changed the same rows at this moment."), remedy=sentence("Try again."))
    if state == "P0001" and isinstance(err, asyncpg.RaiseError):  # one of our own triggers, whose message quotes no row
        return NotAllowed(
            sentence("The database refused the change: {reason}.", reason=err.args[0]),
            remedy=sentence("Reload and try again."),
        )
    if state.startswith("23"):
        name = getattr(err, "constraint_name", None) or "of a column"
        return NotAllowed(
            sentence("The database refused the change: it breaks the constraint {name}.", name=name),
            remedy=sentence("Nothing was changed; reload and try again."),
        )
    if isinstance(err, asyncpg.ClientConfigurationError):  # it is about the address and the files that it names
        return StoreUnavailable(
            sentence("The database does not answer: {reason}.", reason=str(err).rstrip(".")),
            remedy=sentence("Correct {key}.", key="ANTIPHON__DESK__DATABASE_URL"),
        )
    if state.startswith("22") or isinstance(err, ValueError):  # refused by the driver
        return NotAllowed(
            sentence("The database refused the change: a value has no place there."),
            remedy=sentence("Correct the text."),
        )
    what, remedy = next((words for sign, words in _TROUBLES.items() if (state or "08").startswith(sign)), _other(state))
    return StoreUnavailable(sentence("The database does not answer: {reason}.", reason=what), remedy=remedy)


def _other(state: str) -> tuple[str, str]:
    return f"PostgreSQL reports {state}", "Look this SQLSTATE up in the server's log and its manual."


def read_address(text: str) -> URL:
    """The address of a database; ``BadSettings`` for unknown options after its ?, too. It names no password."""
    try:
        address = make_url(text)
    except ArgumentError:
        address = URL.create("unreadable")
    if address.get_backend_name() != "postgresql":
        raise BadSettings(
            "ANTIPHON__DESK__DATABASE_URL is not the address of a PostgreSQL database.",
            remedy="Write postgresql://USER:PASSWORD@HOST/DATABASE, or leave it out for a SQLite file.",
        )
    unknown = sorted(set(address.query) - set(_OPTIONS))
    if unknown:
        raise BadSettings(
            f"ANTIPHON__DESK__DATABASE_URL has an option that Antiphon does not take: {', '.join(unknown)}.",
            remedy=f"Leave it out; these are taken: {', '.join(_OPTIONS)}.",
        )
    mode, authorities = _ssl_mode(address), address.query.get("sslrootcert")
    if mode is not None and mode not in _SSL_MODES:
        raise BadSettings(
            "ANTIPHON__DESK__DATABASE_URL has an sslmode that does not exist.",
            remedy=f"Write one of: {', '.join(_SSL_MODES)}.",
        )
    if authorities is not None:
        _authorities(str(authorities))
    return address


def ssl_options(address: URL) -> dict[str, str]:
    """How the connection is encrypted, as the variables of PostgreSQL's own tools; nothing for what is not set."""
    variables = {"PGSSLMODE": _ssl_mode(address), "PGSSLROOTCERT": address.query.get("sslrootcert")}
    return {name: str(value) for name, value in variables.items() if value is not None}


def _ssl_mode(address: URL) -> object:
    return address.query.get("sslmode", address.query.get("ssl"))


def _encryption(address: URL) -> dict[str, Any]:
    """The same for the driver, which knows ``ssl`` alone: a mode, or what certificates are checked against.

    As with libpq, to name the authorities makes ``require`` check the certificate.
    """
    mode, authorities = _ssl_mode(address), address.query.get("sslrootcert")
    if authorities is not None and mode not in ("disable", "allow", "prefer", None):
        context = _authorities(str(authorities))
        context.check_hostname = mode == "verify-full" or authorities == _SYSTEM
        return {"ssl": context}
    return {} if mode is None else {"ssl": mode}


def _authorities(file: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if file == _SYSTEM else file)
    except OSError as err:  # ssl.SSLError is one
        raise BadSettings(
            f"The certificates of sslrootcert in ANTIPHON__DESK__DATABASE_URL cannot be read: {err.strerror or err}.",
            remedy="Name a PEM file that Antiphon may read, or system.",
        ) from err


def engine(
    address: URL, busy_seconds: float, *, lease_seconds: float | None = None, is_patient: bool = False
) -> AsyncEngine:
    """An engine over a database; ``busy_seconds`` bounds the wait for a connection and for a lock.

    A statement may take twice as long, so that a lost network is noticed; with ``is_patient`` it has no limit.

    Args:
        lease_seconds: what a process that works under leases has for a statement, and a quarter more for a transaction.
            Then the server ends it, wherever the process froze or was cut off. Before PostgreSQL 17 only pauses between
            statements and the work on one are bounded, which leaves a gap: the driver sends a statement in parts, and a
            server that lacks the last one waits for it as long as the connection stands.
    """
    seconds = max(busy_seconds, _LEAST_SECONDS)
    idle = min(_IDLE_SECONDS, lease_seconds or _IDLE_SECONDS)
    settings = {
        "lock_timeout": _milliseconds(seconds),
        "idle_in_transaction_session_timeout": _milliseconds(idle),
        "application_name": "antiphon",
        **_KEEPALIVES,
    }
    if lease_seconds is not None:
        settings["statement_timeout"] = _milliseconds(lease_seconds)
    plain = address.difference_update_query(("ssl", "sslmode", "sslrootcert"))
    made = create_async_engine(
        plain.set(drivername="postgresql+asyncpg"),
        hide_parameters=True,
        pool_pre_ping=True,
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_timeout=seconds,
        connect_args=_encryption(address)
        | {
            "timeout": seconds,
            "command_timeout": None if is_patient else 2 * seconds,
            "server_settings": settings,
        },
    )
    if lease_seconds is not None:
        _bound_transactions(made, _milliseconds(_WHOLE * lease_seconds))
    return made


def _bound_transactions(made: AsyncEngine, milliseconds: str) -> None:
    """Bound whole transactions where the server can; an older one refuses a connection that names the setting."""

    async def bound(connection: asyncpg.Connection) -> None:
        if connection.get_server_version().major >= _WHOLE_SINCE:
            await connection.execute(f"SET transaction_timeout = {milliseconds}")

    @event.listens_for(made.sync_engine, "connect")
    def _(connection: Any, _record: object) -> None:
        connection.run_async(bound)


def _milliseconds(seconds: float) -> str:
    return str(int(max(seconds, _LEAST_SECONDS) * 1000))


async def check_durable(connection: AsyncConnection) -> None:
    """Check that a commit will survive a power cut; ``StoreUnavailable`` if not."""
    for setting in ("fsync", "synchronous_commit", "full_page_writes"):
        value = (await connection.exec_driver_sql(f"SHOW {setting}")).scalar_one()
        if value == "off":
            raise StoreUnavailable(
                f"The database has {setting}=off, and so may lose commits.",
                remedy=f"Set {setting} to on in postgresql.conf.",
            )


async def time_and_revision(session: AsyncSession) -> tuple[datetime, str | None]:
    """The time by the database's clock, which all machines share, and the revision of its tables; in one question."""
    question = "SELECT clock_timestamp(), (SELECT version_num FROM alembic_version)"
    moment, revision = (await session.execute(text(question))).one()
    return moment, revision
