"""Prints how far the readers of the texts in ``training/data`` agree with each other, and with the writers.

python -m training.heads.agreement
"""

from collections.abc import Sequence

from training.corpus import DraftRow, PostRow, alpha, draft_values, drafts, post_values, posts


def _hateful(label: str) -> bool:
    return bool(post_values(label)[0])


def _unfit(label: str) -> bool:
    return bool(draft_values(label)[0])


def table(rows: Sequence[PostRow] | Sequence[DraftRow], what: str) -> str:
    """One line for each language: texts, alpha of the first two readings, how many needed a third, and the writer's."""
    says = _hateful if what == "hateful" else _unfit
    lines = [f"{what:<10}{'texts':>8}{'alpha':>8}{'third read':>12}{'as meant':>10}"]
    for language in ("en", "es", "it", "eu", ""):
        read_rows = [row for row in rows if language in ("", row.language) and len(row.readings) > 1]
        if not read_rows:
            continue
        first = [{str(at): says(label) for at, label in enumerate(row.readings[:2])} for row in read_rows]
        third = sum(len(row.readings) > 2 for row in read_rows)
        as_meant = sum((sum(map(says, row.readings)) * 2 > len(row.readings)) == says(row.meant) for row in read_rows)
        name = language or "all"
        lines.append(f"{name:<10}{len(read_rows):>8}{alpha(first):>8.3f}{third:>12}{as_meant / len(read_rows):>10.3f}")
    return "\n".join(lines)


def main() -> None:
    """Print both tables."""
    print(table(posts(), "hateful"), table(drafts(), "unfit"), sep="\n\n")  # noqa: T201


if __name__ == "__main__":
    main()
