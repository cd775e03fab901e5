"""How the rows of revision 0001 read at revision 0002. Plain functions over rows; the step itself does the writing."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import sqlalchemy as sa

Rows = list[dict[str, Any]]
_TABLES: Final = ("cases", "suggestions", "claim_choices", "approvals", "outbox", "audit")
_PARTS: Final = frozenset({"desk", "worker", "outbox"})
_OURS: Final = frozenset(
    {"waits for a draft", "drafting", "drafting was interrupted", "approved", "approval undone", "sending", "posted"}
)
_APPROVAL_HOURS: Final = 24


def read_old(connection: sa.Connection) -> dict[str, Rows]:
    """Every row of the old tables, in the order in which they were written."""
    found = {}
    for name in _TABLES:
        table = sa.Table(name, sa.MetaData(), autoload_with=connection)
        order = [column for column in ("created_at", "case_id", "version", "id") if column in table.c]
        query = sa.select(table).order_by(*(table.c[column] for column in order))
        found[name] = [dict(row) for row in connection.execute(query).mappings()]
    return found


@dataclass
class _People:
    """Pseudonyms for the names of the old rows."""

    secret: bytes
    at: datetime
    rows: dict[str, dict[str, Any]] = field(default_factory=dict)

    def hide(self, platform: str, user: str) -> str:
        """The pseudonym of somebody."""
        lookup = hmac.new(self.secret, f"{platform}\0{user}".encode(), hashlib.sha256).hexdigest()
        if lookup not in self.rows:
            key = secrets.token_bytes(32)
            made = "p-" + hmac.new(key, lookup.encode(), hashlib.sha256).hexdigest()[:20]
            self.rows[lookup] = {"id": made, "lookup": lookup, "key": key, "created_at": self.at}
        return str(self.rows[lookup]["id"])


def carried(old: dict[str, Rows], secret: bytes) -> Iterable[tuple[str, Rows]]:
    """The rows of the new tables, each table after those that it refers to."""
    if not old["cases"]:
        return
    people = _People(secret, old["cases"][0]["created_at"])
    platforms = {case["id"]: case["platform"] for case in old["cases"]}
    cases = [_case(case, people) for case in old["cases"]]
    approvals = [
        row
        | {
            "moderator": people.hide(platforms[row["case_id"]], row["moderator"]),
            "seconded_by": None,
            "footer": "",
            "expires_at": row["approved_at"] + timedelta(hours=_APPROVAL_HOURS),
            "policy_version": 1,
        }
        for row in old["approvals"]
    ]
    audit, notes = _audit(old["audit"], platforms, people)
    communities = _communities(old["cases"])
    audit += [_linked(_first_line(community), "") for community in communities]
    suggestions = [_hidden_document(row, platforms, people) for row in old["suggestions"]]
    yield "persons", list(people.rows.values())
    yield "communities", communities
    yield "cases", cases
    yield "suggestions", suggestions
    yield "claim_choices", old["claim_choices"]
    yield "approvals", approvals
    yield "outbox", [_outbox(row) for row in old["outbox"]]
    yield "jobs", [_job(case) for case in cases if case["state"] in ("queued", "drafting")]
    yield "audit", audit
    yield "notes", notes


def _case(row: dict[str, Any], people: _People) -> dict[str, Any]:
    thread = row["thread"] if isinstance(row["thread"], list) else json.loads(row["thread"])
    hidden = [turn | {"author": people.hide(row["platform"], turn["author"])} for turn in thread]
    return row | {
        "community_id": f"{row['platform']}/{row['community']}",
        "root": row["message"],
        "target_sha256": hashlib.sha256(row["text"].encode()).hexdigest(),
        "revision": "",
        "is_from_elsewhere": False,
        "author": people.hide(row["platform"], row["author"]),
        "flagged_by": people.hide(row["platform"], row["flagged_by"]),
        "priority": 1,
        "thread": hidden,
        "wish": {},
        "original": "unchanged",
        "unshown": 0,
    }


def _hidden_document(row: dict[str, Any], platforms: dict[str, str], people: _People) -> dict[str, Any]:
    """A suggestion without names: its copy of the post has them, too."""
    document, platform = json.loads(row["document"]), platforms[row["case_id"]]
    post = document["post"]
    for turn in (post, *post["thread"]):
        turn["author"] = people.hide(platform, turn["author"])
    post["flagged_by"] = people.hide(platform, post["flagged_by"])
    return row | {"document": json.dumps(document, ensure_ascii=False)}


def _communities(cases: Rows) -> Rows:
    first: dict[str, dict[str, Any]] = {}
    for case in cases:
        identity = f"{case['platform']}/{case['community']}"
        row = {"id": identity, "platform": case["platform"], "name": case["community"], "version": 1}
        defaults = {"rules_version": 1, "is_posting": False, "discloses": True, "policy": {}}
        first.setdefault(identity, row | defaults | {"created_at": case["created_at"]})
    return list(first.values())


def _outbox(row: dict[str, Any]) -> dict[str, Any]:
    was_sent = row["state"] in ("sending", "posted", "unknown", "failed")
    moment = row["updated_at"]
    return row | {
        "first_sent_at": moment if was_sent else None,
        "lease_until": moment if row["state"] == "sending" else None,
        "posted_at": moment if row["state"] == "posted" else None,
    }


def _job(case: dict[str, Any]) -> dict[str, Any]:
    """The work that a queued case waits for; that of one that was being drafted has lost its worker."""
    is_running = case["state"] == "drafting"
    return {
        "id": secrets.token_hex(16),
        "key": f"draft:{case['id']}:{case['version']}",
        "kind": "draft",
        "community_id": case["community_id"],
        "case_id": case["id"],
        "payload": {},
        "priority": 1,
        "state": "running" if is_running else "ready",
        "run_at": case["updated_at"],
        "attempts": 1 if is_running else 0,
        "excused": 0,
        "started_at": case["updated_at"] if is_running else None,
        "owner": "revision 0001" if is_running else None,
        "lease_until": case["updated_at"] if is_running else None,
        "created_at": case["updated_at"],
        "updated_at": case["updated_at"],
    }


def _audit(lines: Rows, platforms: dict[str, str], people: _People) -> tuple[Rows, Rows]:
    """The chains of all cases, and what people had typed in them."""
    audit, notes, previous = Rows(), Rows(), dict[str, str]()
    for line in sorted(lines, key=lambda line: int(line["id"])):
        stream, actor, reason = line["case_id"], line["actor"], line["reason"]
        is_ours = actor in _PARTS or reason in _OURS or line["from_state"] is None
        note_sha256 = None
        if not is_ours:
            salt = secrets.token_hex(16)
            notes.append({"stream": stream, "seq": line["version"], "text": reason, "salt": salt})
            note_sha256 = hashlib.sha256(f"{salt}{reason}".encode()).hexdigest()
        new = {
            "stream": stream,
            "seq": line["version"],
            "from_state": line["from_state"],
            "to_state": line["to_state"],
            "actor": actor if actor in _PARTS else people.hide(platforms[stream], actor),
            "reason": reason if is_ours else "decided by a person",
            "note_sha256": note_sha256,
            "at": line["at"],
        }
        audit.append(_linked(new, previous.get(stream, "")))
        previous[stream] = audit[-1]["sha256"]
    return audit, notes


def _first_line(community: dict[str, Any]) -> dict[str, Any]:
    reason = "carried over from revision 0001: shadow mode, disclosure on"
    line = {"stream": community["id"], "seq": 1, "from_state": None, "to_state": None, "actor": "desk"}
    return line | {"reason": reason, "note_sha256": None, "at": community["created_at"]}


def _linked(line: dict[str, Any], previous: str) -> dict[str, Any]:
    at = line["at"] if line["at"].tzinfo else line["at"].replace(tzinfo=UTC)
    names = ("stream", "seq", "from_state", "to_state", "actor", "reason", "note_sha256")
    said = [*(line[name] for name in names), at.astimezone(UTC).isoformat(timespec="microseconds"), previous]
    digest = hashlib.sha256(json.dumps(said, ensure_ascii=False).encode()).hexdigest()
    return line | {"previous": previous, "sha256": digest}
