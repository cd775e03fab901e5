"""What was found of a model, what that makes it fit for, and where it is kept.

One file keeps all trials, by server and model, without a prompt or an answer.
"""

import json
import os
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from pydantic import TypeAdapter

from core.engine.wording.language import NAMES, name_of
from core.errors import StoreUnavailable
from core.i18n.sentences import sentence

EMBEDDED: Final = "embedded"
"""The server of the model that runs in Antiphon's own process."""
_READS: Final = 0.8
"""Who answers at random has so many of ten right once in eighteen times."""
_JUDGES: Final = 0.75


@dataclass(frozen=True, slots=True)
class Share:
    """How many of how many were right."""

    right: int = 0
    of: int = 0

    def __str__(self) -> str:
        return f"{self.right} of {self.of}"

    def reaches(self, share: float) -> bool:
        """Whether there were any, and so large a share of them was right."""
        return self.of > 0 and self.right >= share * self.of


@dataclass(frozen=True, slots=True)
class Trial:
    """One trial of one model.

    Attributes:
        server: its address, or ``EMBEDDED``.
        model: the name that the server has for it; of the embedded one the name of its file.
        day: when it was tried, as an ISO date.
        lacking: what the server cannot, in words.
        readings: by language, how many posts it read rightly.
        pairs: in how many pairs it preferred the better reply.
        drafts: by language, for how many of the finished posts a reply of its own was fit to be shown.
        unfinished: by language, how many posts the deadline cut off before there was such a reply.
        seconds, calls, tokens_in, tokens_out: those of a post that is drafted, on average.
    """

    server: str
    model: str
    day: str
    lacking: tuple[str, ...] = ()
    readings: Mapping[str, Share] = field(default_factory=dict)
    pairs: Share = Share()
    drafts: Mapping[str, Share] = field(default_factory=dict)
    unfinished: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    calls: float = 0.0
    tokens_in: float = 0.0
    tokens_out: float = 0.0

    @property
    def reads(self) -> list[str]:
        """The languages that it is fit to read."""
        return [language for language, share in self.readings.items() if share.reaches(_READS)]

    @property
    def unread(self) -> frozenset[str]:
        """The languages that it was asked about and is not fit to read."""
        return frozenset(self.readings) - frozenset(self.reads)

    @property
    def writes(self) -> list[str]:
        """The languages that it is fit to write: a reply of its own was fit to be shown for every finished post.

        It must not be unfit to read them: where no small reader knows a language, nobody but the model looks at what it
        writes.
        """
        faultless = [code for code, share in self.drafts.items() if share.reaches(1) and code not in self.unread]
        return [code for code in faultless if code not in self.slow]

    @property
    def slow(self) -> list[str]:
        """The languages in which it is too slow to tell: it failed no post, and more were cut off than finished."""
        languages = [code for code, share in self.drafts.items() if share.right == share.of and code not in self.unread]
        return [code for code in languages if self.unfinished.get(code, 0) > self.drafts[code].of]

    @property
    def alone(self) -> frozenset[str]:
        """The languages that Antiphon does not write and it is fit to read and to write."""
        return frozenset(self.reads) & frozenset(self.writes) - frozenset(NAMES)

    @property
    def judges(self) -> bool:
        return self.pairs.reaches(_JUDGES)

    def verdict(self) -> list[str]:
        """In words, what it is fit for and what comes of that."""
        languages = [code for code in self.drafts if code not in self.slow]
        sentences = [_fitness("write", self.writes, languages)] if languages or not self.slow else []
        if self.slow:
            sentences.append(f"It is too slow to tell whether it is fit to write in {_names(self.slow)}.")
        if cut := sum(self.unfinished.values()):
            of = cut + sum(share.of for share in self.drafts.values())
            sentences.append(f"Sample posts that were not finished in time: {cut} of {of}. They do not count.")
        sentences.append(_fitness("read", self.reads, self.readings))
        if unread := [language for language in self.readings if language in self.unread and language in NAMES]:
            names = _names(unread)
            sentences.append(f"The small readers read alone in {names}.")
        if self.alone:
            names = _names(sorted(self.alone))
            sentences.append(f"A community may let it read and write alone in {names} ([community] languages).")
        sentences.append(f"It is {'fit' if self.judges else 'not fit'} to judge.")
        return sentences

    def thousand(self, price_in: float | None, price_out: float | None) -> str:
        """What 1,000 posts take, and cost at prices for a million tokens."""
        read, wrote = self.tokens_in / 1000, self.tokens_out / 1000
        text = f"1,000 posts take {read:.1f} million tokens read and {wrote:.1f} written"
        if price_in is None or price_out is None:
            return f"{text}; --price-in and --price-out tell what that costs."
        return f"{text}: {read * price_in + wrote * price_out:,.2f} at {price_in:g} and {price_out:g} a million."


_FILE: Final = TypeAdapter(dict[str, list[Trial]])


def _fitness(what: str, fit: list[str], languages: Collection[str]) -> str:
    others = [language for language in languages if language not in fit]
    if not languages:
        return f"Whether it is fit to {what} was not tried."
    if not fit:
        return f"It is not fit to {what} in {_names(others)}."
    but = f", not in {_names(others)}" if others else ""
    return f"It is fit to {what} in {_names(fit)}{but}."


def _names(languages: list[str]) -> str:
    names = [str(name_of(language)) for language in languages]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def kept_trials(file: Path) -> dict[tuple[str, str], Trial]:
    """All trials that were kept, by server and model; none where there is no file.

    Raises:
        StoreUnavailable: the file cannot be read.
    """
    try:
        trials = _FILE.validate_json(file.read_bytes())["models"]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError) as err:
        raise StoreUnavailable(
            sentence("What was found of models cannot be read from {file}.", file=str(file)),
            remedy=sentence("Remove the file, and run: {command}", command="antiphon model try"),
        ) from err
    return {(trial.server, trial.model): trial for trial in trials}


def keep(file: Path, trial: Trial) -> None:
    """Keep a trial in place of an earlier one of the same model at the same server.

    A file that cannot be read is replaced: it only ever held what can be tried again.

    Raises:
        StoreUnavailable: the file cannot be written.
    """
    try:
        kept = kept_trials(file)
    except StoreUnavailable:
        kept = {}
    kept[(trial.server, trial.model)] = trial
    text = json.dumps({"models": [asdict(each) for each in kept.values()]}, ensure_ascii=False, indent=1)
    beside = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(file)
    except OSError as err:
        with suppress(OSError):
            beside.unlink()
        raise StoreUnavailable(
            sentence("What was found of the model cannot be kept in {file}.", file=str(file)),
            remedy=sentence("Free some space, or correct the rights of the folder."),
        ) from err
