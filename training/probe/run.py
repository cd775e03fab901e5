"""The run that makes the probe: states, outputs, adapter, pooling, and the two files that ship.

The hidden states come from the weights of the file that the application serves, with an adapter or without. The
development split fits how far the probe's word counts beside that of the small readers.
"""

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from rich.progress import Progress
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from core.engine.backends.embedded import AFTER, BEFORE, MOST_TOKENS
from core.engine.cards.router import Router, shipped_router
from core.engine.readers.networks import PostReader, shipped_posts
from core.engine.readers.pooling import log_odds
from core.engine.readers.probe import HATEFUL
from core.errors import BadInput
from training.heads.calibration import unsure_between
from training.heads.router import ENOUGH, TOGETHER, Floats, LabelledText, Outputs, chances_of, limits_of, told
from training.probe.adapter import Values, adapt, labelled
from training.probe.outputs import Fit, fit, scores, write
from training.probe.texts import LANGUAGES, Learnt
from training.runs.run import Run, hash_of_base

_WEIGHTS: Final = (0.3, 0.5, 0.7, 0.9, 1.2, 1.6, 2.2, 3.0)


def pooled(
    texts: Learnt, states: NDArray[Any], fit: Fit, outputs: Outputs
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """What stands beside the outputs, fitted on the development split, and a table of what was measured."""
    about: dict[str, Any] = {HATEFUL: {}, "stereotypes": {}}
    reader, router, table = shipped_posts(), shipped_router(), list[dict[str, Any]]()
    for language in LANGUAGES:
        table += _pool_hate(texts, states, fit, reader, language, about[HATEFUL])
    weight = _WEIGHTS[0]
    for languages in TOGETHER:
        rows = [row for language in languages for row in _rows(texts, language, "dev")]
        both = _both(texts, states, fit, router, rows)
        if languages == TOGETHER[0] or len(rows) >= ENOUGH:  # with fewer it counts as for the languages before
            weight = _weight(both, rows, outputs)
        shares, right = _shares(outputs, both, weight, rows)
        (slope, offset), limits = limits_of(shares, right)
        alone = router.classifier_for("en").about["calibration"]["en"][0]
        scale = slope / alone  # as sure of a group as the router alone
        fitted = {"weight": weight, "calibration": [slope, offset], "limits": limits, "scale": round(scale, 4)}
        about["stereotypes"] |= dict.fromkeys(languages, fitted)
    for language, fitted in about["stereotypes"].items():
        for split in ("dev", "test"):
            table.append(_measured(texts, states, fit, outputs, router, fitted, language, split))
    return about, table


def _pool_hate(
    texts: Learnt, states: NDArray[Any], fit: Fit, reader: PostReader, language: str, about: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    chances: NDArray[np.float64]
    for split in ("dev", "test"):
        places = [(at, share >= 0.5) for at, its, of, share in texts.posts if (its, of) == (language, split)]
        posts, labels = [texts.texts[at] for at, _ in places], np.array([is_hateful for _, is_hateful in places])
        small = np.array([log_odds(float(share)) for share in reader.hateful(posts, language)])
        probe = fit.outputs(states[[at for at, _ in places]])[:, 0].astype(np.float64)
        both = np.stack([small, probe], axis=1)
        if split == "dev":
            fitted = LogisticRegression(C=100.0).fit(both, labels)
            chances = fitted.predict_proba(both)[:, 1]
            about[language] = {
                "pooling": [round(float(number), 4) for number in (fitted.intercept_[0], *fitted.coef_[0])],
                "unsure": list(unsure_between(chances, labels)),
            }
        bias, *slopes = about[language]["pooling"]
        for name, marks in (("small reader", small), ("probe", probe), ("both", both @ np.array(slopes) + bias)):
            yield {
                "of": HATEFUL,
                "language": language,
                "split": split,
                "posts": len(places),
                "by": name,
                "area": roc_auc_score(labels, marks),
                "recall": (marks[labels] >= 0).mean(),
                "specificity": (marks[~labels] < 0).mean(),
            }


def _weight(both: tuple[Floats, Floats], rows: Sequence[tuple[int, LabelledText]], outputs: Outputs) -> float:
    """How far the probe counts beside the router: what is most often right on texts of the development split."""
    right = {weight: _shares(outputs, both, weight, rows)[1].mean() for weight in _WEIGHTS}
    return max(right, key=lambda weight: right[weight])


def _measured(
    texts: Learnt,
    states: NDArray[Any],
    fit: Fit,
    outputs: Outputs,
    router: Router,
    fitted: Mapping[str, Any],
    language: str,
    split: str,
) -> dict[str, Any]:
    """How often the likeliest stereotype is right, by each alone and by both, and what is routed and told."""
    rows = _rows(texts, language, split)
    small, probe = _both(texts, states, fit, router, rows)
    shares, right = _shares(outputs, (small, probe), fitted["weight"], rows)
    alone = [_shares(outputs, pair, 1.0, rows)[1].mean() for pair in ((small, 0 * probe), (0 * small, probe))]
    return {
        "of": "stereotypes",
        "language": language,
        "split": split,
        "posts": len(rows),
        "router right": alone[0],
        "probe right": alone[1],
        "both right": right.mean(),
        **told(chances_of(shares, *fitted["calibration"]), right, fitted["limits"]),
    }


def _shares(
    outputs: Outputs, pair: tuple[Floats, Floats], weight: float, rows: Sequence[tuple[int, LabelledText]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The share of each text's likeliest stereotype by both, and whether a reader saw it."""
    return outputs.best(pair[0] + weight * pair[1], [row for _, row in rows])


def _rows(texts: Learnt, language: str, split: str) -> list[tuple[int, LabelledText]]:
    return [(at, row) for at, row in texts.stereotypes if (row.language, row.split) == (language, split)]


def _both(
    texts: Learnt, states: NDArray[Any], fit: Fit, router: Router, rows: Sequence[tuple[int, LabelledText]]
) -> tuple[Floats, Floats]:
    places = [at for at, _ in rows]
    small = [router.classifier_for(row.language).logits([(texts.texts[at],)])[0] for at, row in rows]
    return np.array(small, dtype=np.float32), fit.outputs(states[places])[:, 1:]


_BATCH_TOKENS: Final = 400
_FILE, _ABOUT = "states.npy", "states.json"


Load = Callable[[], tuple[Any, Any]]
"""Gives a model of transformers without its last output, and a tokenizer."""


def states_of(
    texts: Sequence[str], by: str, load: Load, folder: Path, on_progress: Callable[[int, int], None]
) -> NDArray[np.float16]:
    """The states of each text, shape (len(texts), 2 * width); what stands in the folder is not computed again.

    Of a text with more than ``MOST_TOKENS`` the first ones are read.

    Args:
        by: a hash of the model.
        load: is called where there is something to compute.
        on_progress: is called with the texts that were read, and all.

    Raises:
        BadInput: the folder holds the states of other texts or another model.
    """
    about = {"base": by, "texts": hashlib.sha256("\0".join(texts).encode()).hexdigest(), "count": len(texts)}
    file, stated = folder / _FILE, folder / _ABOUT
    if stated.exists():
        if json.loads(stated.read_text(encoding="utf-8")) != about:
            raise BadInput(
                f"{folder} holds the states of other texts or of another model.", remedy="Name another folder."
            )
        states = np.load(file, mmap_mode="r+")
        if states.any(axis=1).all():
            return np.asarray(states)
        model, tokenizer = load()
    else:
        folder.mkdir(parents=True, exist_ok=True)
        model, tokenizer = load()
        shape = (len(texts), 2 * int(model.config.hidden_size))
        states = np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=shape)
        states.flush()
        stated.write_text(json.dumps(about), encoding="utf-8")
    _read(texts, states, model.eval(), tokenizer, on_progress)
    return np.asarray(states)


def _read(
    texts: Sequence[str], states: Any, model: Any, tokenizer: Any, on_progress: Callable[[int, int], None]
) -> None:
    import torch

    left = np.flatnonzero(~states.any(axis=1))
    before, after = tokenizer.encode(BEFORE), tokenizer.encode(AFTER)
    tokens = {at: [*before, *tokenizer.encode(texts[at])[:MOST_TOKENS], *after] for at in left.tolist()}
    order = sorted(tokens, key=lambda at: len(tokens[at]))
    count = 0
    while count < len(order):
        batch = order[count : count + max(1, _BATCH_TOKENS // len(tokens[order[count]]))]
        longest = max(len(tokens[at]) for at in batch)
        ids = torch.zeros((len(batch), longest), dtype=torch.long)
        mask = torch.zeros_like(ids)
        for row, at in enumerate(batch):
            ids[row, : len(tokens[at])] = torch.tensor(tokens[at])
            mask[row, : len(tokens[at])] = 1
        with torch.inference_mode():
            inputs = {"input_ids": ids.to(model.device), "attention_mask": mask.to(model.device)}
            vectors = model(**inputs, use_cache=False).last_hidden_state.float().cpu()
        for row, at in enumerate(batch):
            vector = vectors[row, : len(tokens[at])]
            states[at] = torch.cat([vector[1:].mean(dim=0), vector[-1]]).numpy()
        count += len(batch)
        on_progress(count, len(order))
    states.flush()


OUTPUTS, ADAPTER = "probe.safetensors", "probe.gguf"


def train(
    run: Run, texts: Learnt, base: str, values: Values, *, save_steps: int = 20
) -> tuple[dict[str, float], dict[str, float], list[dict[str, Any]]]:
    """Train the probe of a GGUF file, and leave its outputs as ``probe.safetensors`` and its adapter as ``probe.gguf``.

    Returns:
        scores on the development split, of the outputs over the model without the adapter and with it, and a table of
        what was measured.
    """
    from training.writer.base import Lora, load_base, with_adapter
    from training.writer.export import to_gguf

    folder, outputs, digest = run.folder, Outputs.of_taxonomy(), run.started.base["sha256"]
    out, adapter = folder / OUTPUTS, folder / ADAPTER
    states = _states(texts.texts, digest, lambda: _inner(*load_base(base)), folder / "begun")
    begun = fit(texts, states, outputs)
    before = scores(begun, texts, states, outputs)
    model, tokenizer = load_base(base)
    rows = labelled(texts, outputs, tokenizer)
    model = with_adapter(model, Lora(), values.seed)
    adapted = adapt(model, begun, rows, folder, values, run.note, save_steps=save_steps)
    del model  # it is loaded once more below, and takes 3 GB
    to_gguf(folder / "adapter", adapter, Path(base))
    stated = hash_of_base(str(adapter))
    measured = folder / f"adapted-{stated[:8]}"
    states = _of_those_measured(texts, stated, lambda: _through(folder / "adapter", base), measured)
    about, table = pooled(texts, states, adapted, outputs)
    about |= {
        "outputs": [HATEFUL, *outputs.at],
        "texts": len(texts.texts),
        "weights": {"sha256": digest, "bytes": Path(base).stat().st_size},
        "adapter": {"sha256": stated, "bytes": adapter.stat().st_size},
    }
    write(adapted, about, out)
    return before, scores(adapted, texts, states, outputs), table


def _of_those_measured(texts: Learnt, by: str, load: Load, folder: Path) -> NDArray[np.float16]:
    """The states of the texts that are not learnt, each in its place; the others are not read, and stay 0."""
    kept = {at for at, _, split, _ in texts.posts if split != "train"}
    places = sorted(kept | {at for at, row in texts.stereotypes if row.split != "train"})
    held_out = _states([texts.texts[at] for at in places], by, load, folder)
    states = np.zeros((len(texts.texts), held_out.shape[1]), dtype=np.float16)
    states[places] = held_out
    return states


def _states(texts: list[str] | Any, by: str, load: Load, folder: Path) -> NDArray[np.float16]:
    with Progress() as progress:
        bar = progress.add_task(f"Reading texts into {folder.name}", total=None)
        return states_of(
            texts, by, load, folder, lambda count, total: progress.update(bar, completed=count, total=total)
        )


def _inner(model: Any, tokenizer: Any) -> tuple[Any, Any]:
    """A model without its last output."""
    return model.base_model, tokenizer


def _through(adapter: Path, base: str) -> tuple[Any, Any]:
    from peft import PeftModel

    from training.writer.base import load_base

    model, tokenizer = load_base(base)
    return _inner(PeftModel.from_pretrained(model, str(adapter), local_files_only=True).get_base_model(), tokenizer)
