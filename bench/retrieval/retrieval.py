"""How fast, small and accurate the library's index is, compared with other engines.

    python -m bench.retrieval.retrieval --place FOLDER [--sizes 10000,100000,1000000] [--resume LOG]

Every row is measured in processes of its own and kept in ``LOG``, so that the same command continues after a kill.
``FOLDER`` gets the synthetic paragraphs and vectors, about 6 GB for a million, which later runs use again.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.measuring.children import in_child
from bench.measuring.output import Row, note, save, show
from bench.measuring.plots import plot
from bench.measuring.samples import Log, read_rows
from bench.retrieval import dense, hybrid, lexical
from bench.retrieval.corpus import QUERIES, Corpus, Vectors
from kb.starter.facts import STARTER_FACTS, load_facts

LEXICAL, DENSE, HYBRID, THROUGHPUT = "lexical", "dense", "hybrid", "throughput"
Measure = Callable[[Path, int, str], dict[str, Any]]


def build_lexical(place: Path, folder: Path, size: int, name: str) -> None:
    """In a child: build an engine's index into ``folder``."""
    lexical.ENGINES[name].build(Corpus(place, size), folder)


def ask_lexical(place: Path, folder: Path, size: int, name: str) -> dict[str, Any]:
    """In a child: open that index and ask it."""
    engine, corpus = lexical.ENGINES[name], Corpus(place, size)
    queries = corpus.queries()[: engine.queries]
    ask = engine.open(corpus, folder)
    known = [query.row in ask(query.text)[:10] for query in queries]
    return {"known": float(np.mean(known)), "latencies": hybrid.timed(lambda at: ask(queries[at].text), len(queries))}


def build_dense(place: Path, folder: Path, size: int, name: str) -> None:
    """In a child: build a variant's index into ``folder``."""
    dense.VARIANTS[name].build(Vectors(place, size), folder)


def ask_dense(place: Path, folder: Path, size: int, name: str) -> dict[str, Any]:
    """In a child: open that index and ask it."""
    vectors = Vectors(place, size)
    queries, exact = vectors.queries(), vectors.exact()
    ask = dense.VARIANTS[name].open(vectors, folder)
    found = [ask(query) for query in queries]
    recall = {
        str(k): float(np.mean([np.isin(exact[at, :k], found[at][:k]).mean() for at in range(QUERIES)]))
        for k in (10, 100)
    }
    return {"recall": recall, "latencies": hybrid.timed(lambda at: ask(queries[at]), QUERIES)}


def _measure_engine(build: Callable[..., None], ask: Callable[..., dict[str, Any]]) -> Measure:
    def measure(place: Path, size: int, name: str) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(dir=place) as temporary:
            folder = Path(temporary) / "index"
            folder.mkdir()
            built = in_child(build, place, folder, size, name)
            asked = in_child(ask, place, folder, size, name)
            return {
                **asked.value,
                "build_s": built.seconds,
                "index_mib": _mib(folder),
                "build_peak_mib": built.peak_mib,
                "serve_mib": asked.peak_mib,
                "others": max(built.others, asked.others),
            }

    return measure


def _measure_hybrid(place: Path, size: int, _: str) -> dict[str, Any]:
    folder = place / f"index-{size}"
    shutil.rmtree(folder, ignore_errors=True)
    built = in_child(hybrid.build, place, folder, size)
    asked = in_child(hybrid.serve, place, folder, size)
    version = folder / "versions" / (folder / "current").read_text().strip()
    measured = {
        **asked.value,
        "build": built.value,
        "index_mib": _mib(version),
        "others": max(built.others, asked.others),
    }
    shutil.rmtree(folder)
    return measured


def _mib(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def _turns(sizes: Sequence[int], only: set[str]) -> list[tuple[str, int, str, Measure]]:
    turns: list[tuple[str, int, str, Measure]] = []
    for size in sizes:
        words, vectors = _measure_engine(build_lexical, ask_lexical), _measure_engine(build_dense, ask_dense)
        turns += [(LEXICAL, size, name, words) for name, engine in lexical.ENGINES.items() if size <= engine.most]
        turns += [(DENSE, size, name, vectors) for name in dense.VARIANTS]
        turns += [(HYBRID, size, "", _measure_hybrid)]
    return [turn for turn in turns if turn[0] in only]


def _run(options: argparse.Namespace, log: Log) -> None:
    done = {(row["kind"], row["size"], row["name"]) for row in log.rows}
    for kind, size, name, measure in _turns(options.sizes, options.only):
        if (kind, size, name) not in done:
            in_child(_prepare, options.place, max(options.sizes), size)
            measured = measure(options.place, size, name)
            log.add({"kind": kind, "size": size, "name": name, **measured})
            note(f"{kind} {size:,} {name}")
    if THROUGHPUT in options.only and not log.of_kind(THROUGHPUT):
        with tempfile.TemporaryDirectory(dir=options.place) as folder:
            took = in_child(hybrid.throughput, Path(folder), _paragraphs(options.paragraphs, options.limit))
        log.add({"kind": THROUGHPUT, "size": options.limit, "name": "", **took.value, "others": took.others})


def _prepare(place: Path, largest: int, size: int) -> None:
    Corpus(place, largest).write()
    Corpus(place, size).write()
    Vectors(place, size).write()


def _paragraphs(file: Path | None, limit: int) -> list[str]:
    if file is None:
        return [fact.text for fact in load_facts(STARTER_FACTS)][:limit]
    return [str(row["text"]) for row in read_rows(file)][:limit]


def _percentiles(row: dict[str, Any], name: str | None = None) -> dict[str, float]:
    took = row["latencies"][name] if name else row["latencies"]
    return {"p50 ms": float(np.percentile(took, 50)), "p95 ms": float(np.percentile(took, 95))}


def _tables(log: Log) -> dict[str, list[Row]]:
    tables: dict[str, list[Row]] = {"By words, top 100": [], "By vectors, top 100": [], "The library's index": []}
    for row in log.of_kind(LEXICAL):
        tables["By words, top 100"].append({**_common(row), **_percentiles(row), "known item in 10": row["known"]})
    for row in log.of_kind(DENSE):
        recall = {f"recall@{k}": row["recall"][str(k)] for k in (10, 100)}
        tables["By vectors, top 100"].append({**_common(row), **_percentiles(row), **recall})
    for row in log.of_kind(HYBRID):
        for name in row["latencies"]:
            tables["The library's index"].append(
                {
                    "paragraphs": row["size"],
                    "search, 200 of each": name,
                    **_percentiles(row, name),
                    "others": row["others"],
                }
            )
    tables["The library's index: cost"] = [
        {
            "paragraphs": row["size"],
            "words s": row["build"]["words"],
            "vectors s": row["build"]["vectors"],
            "1,000 more s": row["build"]["append"],
            "1 less s": row["build"]["remove"],
            "build peak MiB": row["build"]["peak"],
            "disk MiB": row["index_mib"],
            "warm start s": row["open"],
            "serving MiB": row["peak"],
            "known item in 10": row["known"],
            "recall@10 of 200": row["recall"],
            "others": row["others"],
        }
        for row in log.of_kind(HYBRID)
    ]
    tables["Paragraphs embedded a second"] = [
        {
            "paragraphs": row["size"],
            "model alone, before": row["before"],
            "index": row["index"],
            "model alone, after": row["after"],
            "index / model": row["index"] / ((row["before"] + row["after"]) / 2),
            "others": row["others"],
        }
        for row in log.of_kind(THROUGHPUT)
    ]
    return {title: rows for title, rows in tables.items() if rows}


def _common(row: dict[str, Any]) -> dict[str, object]:
    return {
        "paragraphs": row["size"],
        "engine": row["name"],
        "build s": row["build_s"],
        "index MiB": row["index_mib"],
        "build peak MiB": row["build_peak_mib"],
        "serving MiB": row["serve_mib"],
        "others": row["others"],
    }


def _panels(log: Log) -> dict[str, dict[str, list[float]]]:
    """Milliseconds at the largest size."""
    panels: dict[str, dict[str, list[float]]] = {}
    largest = max((row["size"] for row in log.rows if row["kind"] != THROUGHPUT), default=0)
    for row in log.rows:
        if row["size"] == largest and row["kind"] in (LEXICAL, DENSE):
            panels.setdefault(f"{row['kind']}, {largest:,} (ms)", {})[row["name"]] = row["latencies"]
        elif row["size"] == largest and row["kind"] == HYBRID:
            panels[f"the library's index, {largest:,} (ms)"] = row["latencies"]
    return panels


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--place", type=Path, required=True, help="a folder for paragraphs, vectors and indexes")
    parser.add_argument("--sizes", default="10000,100000,1000000", help="how many paragraphs, separated by commas")
    parser.add_argument("--only", default=f"{LEXICAL},{DENSE},{HYBRID},{THROUGHPUT}", help="parts to run")
    parser.add_argument("--paragraphs", type=Path, help="JSON lines with text to embed; the shipped facts otherwise")
    parser.add_argument("--limit", type=int, default=400, help="paragraphs that are embedded")
    parser.add_argument("--resume", type=Path, help="a log that is added to, and gone on from")
    parser.add_argument("--plot", type=Path, help="draw the latencies at the largest size into this SVG, PNG or PDF")
    parser.add_argument("--out", type=Path, help="write the JSON here instead of standard output")
    options = parser.parse_args()
    options.sizes = [int(size) for size in options.sizes.split(",")]
    options.only = set(options.only.split(","))
    return options


def main() -> None:
    """Measure the rows that the log lacks, then show all rows."""
    options = _options()
    options.place.mkdir(parents=True, exist_ok=True)
    log = Log(options.resume, {"bench": "retrieval"})
    _run(options, log)
    tables = _tables(log)
    for title, rows in tables.items():
        show(title, rows)
    if options.plot:
        plot(options.plot, _panels(log))
    save(options.out, dict(tables))


if __name__ == "__main__":
    main()
