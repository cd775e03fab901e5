"""How many good drafts are refused and how many bad ones pass, by the code that judges drafts, edits and chat.

    python -m bench.reader                                  on the test split of training/data
    python -m bench.reader --posts FILE --drafts FILE       on any drafts, as JSON lines

Posts: ``id``, ``post``, ``target_group``. Drafts: ``post_id``, ``label`` good or bad, ``kind``, ``text`` and optionally
``evidence`` with ``text``, ``publisher``, ``title``, ``year``, ``url``; for a good one ``kind`` is its intent. In the
same run the rules alone are measured, and a gate that refuses nothing. The figures of the last line count the languages
that the reader knows.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.measures.output import Row, note, save, show
from bench.measures.significance import by, share
from bench.texts.cases import DraftExample, read_replies, test_replies
from core.engine.readers.networks import DraftReader, shipped_drafts
from core.engine.scoring.check import CheckedText, Level, check_reply, context_for, read_drafts
from core.errors import AntiphonError


@dataclass(frozen=True, slots=True)
class DraftVerdict:
    """A draft, what is found in it, and what the rules alone find."""

    reply: DraftExample
    found: CheckedText
    by_rules: CheckedText


def judge_all(reader: DraftReader, replies: Sequence[DraftExample]) -> tuple[list[DraftVerdict], float]:
    """Every draft as it is judged, and the milliseconds that one takes."""
    judged, seconds = list[DraftVerdict](), 0.0
    for reply in replies:
        context = context_for(reply.post, reply.language, reply.evidence)
        by_rules = check_reply(reply.text, context)
        begun = time.perf_counter()
        scores = read_drafts(reader, reply.post, [reply.text], reply.language)[0]
        checked = check_reply(reply.text, context, scores)
        seconds += time.perf_counter() - begun
        judged.append(DraftVerdict(reply, checked, by_rules))
    return judged, 1000 * seconds / max(len(replies), 1)


def systems(judged: Sequence[DraftVerdict]) -> list[Row]:
    """What becomes of good and bad drafts, by the reader with the rules and by its peers."""
    good, bad = _apart(judged)
    levels: Mapping[str, Callable[[DraftVerdict], Level]] = {
        "rules and reader": lambda draft: draft.found.level,
        "rules only": lambda draft: draft.by_rules.level,
        "refuse nothing": lambda _: Level.FINE,
    }
    return [
        {
            "system": name,
            "good refused": share(level(draft) is Level.REFUSED for draft in good),
            "good warned of": share(level(draft) is Level.WARNED for draft in good),
            "bad passing": share(level(draft) is not Level.REFUSED for draft in bad),
            "bad passing without a warning": share(level(draft) is Level.FINE for draft in bad),
        }
        for name, level in levels.items()
    ]


def reasons(judged: Sequence[DraftVerdict]) -> list[Row]:
    """How many good and bad drafts each rule refuses, and the reader for each fault."""
    good, bad = _apart(judged)
    refused = [Counter(_reasons(part)) for part in (good, bad)]
    return [
        {
            "refused because": reason,
            "good": share([True] * refused[0][reason] + [False] * (len(good) - refused[0][reason])),
            "bad": share([True] * refused[1][reason] + [False] * (len(bad) - refused[1][reason])),
        }
        for reason in sorted({*refused[0], *refused[1]})
    ]


def _reasons(part: Sequence[DraftVerdict]) -> list[str]:
    return [
        f"rule: {fault}" if fault in draft.by_rules.faults else f"reader: {fault}"
        for draft in part
        for fault in dict.fromkeys(draft.found.faults)
    ]


def _apart(judged: Sequence[DraftVerdict]) -> tuple[list[DraftVerdict], list[DraftVerdict]]:
    return [draft for draft in judged if draft.reply.is_good], [draft for draft in judged if not draft.reply.is_good]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posts", type=Path, help="JSON lines with id, post, target_group")
    parser.add_argument("--drafts", type=Path, help="JSON lines with post_id, label, kind, text, evidence")
    parser.add_argument(
        "--errors", type=Path, help="write the good drafts refused and the bad ones passing to this file"
    )
    parser.add_argument("--out", type=Path, help="write the tables as JSON to this file")
    options = parser.parse_args()
    if bool(options.posts) != bool(options.drafts):
        parser.error("--posts and --drafts need each other")
    return options


def main() -> None:
    import torch  # the measures alone need no model library

    options = _options()
    torch.set_num_threads(1)
    reader = shipped_drafts()
    try:
        replies = read_replies(options.posts, options.drafts) if options.posts else test_replies()
        judged, milliseconds = judge_all(reader, replies)
        known = [draft for draft in judged if reader.knows(draft.reply.language)] or judged
    except AntiphonError as err:
        raise SystemExit(str(err)) from err
    tables = _tables(judged, known, milliseconds)
    for title, table in tables.items():
        show(title, table)
    good, bad = _apart(known)
    refused = [draft for draft in good if draft.found.level is Level.REFUSED]
    passing = [draft for draft in bad if draft.found.level is not Level.REFUSED]
    if options.errors:
        _write_errors(options.errors, [*refused, *passing])
    if options.out:
        counts = {"good": len(good), "good refused": len(refused), "bad": len(bad), "bad passing": len(passing)}
        save(options.out, {**tables, **counts})
        note(f"{options.out} is written.")
    print(f"good refused {len(refused)} of {len(good)}, bad passing {len(passing)} of {len(bad)}")  # noqa: T201


def _tables(
    judged: Sequence[DraftVerdict], known: Sequence[DraftVerdict], milliseconds: float
) -> Mapping[str, Sequence[Row]]:
    columns = {
        "refused": lambda draft: draft.found.level is Level.REFUSED,
        "warned of": lambda draft: draft.found.level is Level.WARNED,
        "refused by rules": lambda draft: draft.by_rules.level is Level.REFUSED,
    }
    good, bad = _apart(known)
    tables = {"Systems": systems(known)}
    for name, part in (("Good", good), ("Bad", bad)):
        tables[f"{name}, by kind"] = by(part, lambda draft: [draft.reply.kind], columns, "kind")
        tables[f"{name}, by group"] = by(part, lambda draft: [draft.reply.group or "-"], columns, "group")
    for name, part in zip(("Good", "Bad"), _apart(judged), strict=True):
        tables[f"{name}, by language"] = by(part, lambda draft: [draft.reply.language], columns, "language")
    cost: Row = {"drafts": len(judged), "milliseconds for a draft on one core": milliseconds}
    return {**tables, "Reasons": reasons(known), "Cost": [cost]}


def _write_errors(path: Path, wrong: Sequence[DraftVerdict]) -> None:
    lines = [
        "\t".join(
            (
                "good" if draft.reply.is_good else "bad",
                draft.reply.kind,
                ", ".join(draft.found.faults) or draft.found.level,
                f"{draft.found.signs.unfit:.3f}" if draft.found.signs else "-",
                " ".join(draft.reply.post.split()),
                " ".join(draft.reply.text.split()),
            )
        )
        for draft in wrong
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
