"""The small readers: what their numbers mean, long posts, limits, and weights that lack something."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from core.engine.readers import networks, outputs
from core.engine.readers.networks import DraftReader, PostReader, Sureness
from core.engine.readers.outputs import DRAFT_OUTPUTS, POST_OUTPUTS, DraftFault
from core.models import Intent, TargetGroup
from tests.fakes.engine.readers import FakeClassifier, readers_saying

WORSE = "They are vermin"


@dataclass(frozen=True)
class ByText:
    """Says of each text what a function says, as the probability of being hateful; all else is unlikely."""

    says: Callable[[str], float]

    @property
    def about(self) -> Mapping[str, Any]:
        return FakeClassifier(POST_OUTPUTS, {}, ("en",)).about

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Nobody looks at them here."""
        return np.zeros((len(texts), 384), dtype=np.float32)

    def logits(self, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float32]:
        found = np.full((len(texts), len(POST_OUTPUTS)), -4.0, dtype=np.float32)
        found[:, 0] = [np.log(share / (1 - share)) for share in (self.says(text[0]) for text in texts)]
        return found


def posts_with(worse: float) -> PostReader:
    """A reader that finds one sentence hateful and all others harmless."""
    return PostReader(ByText(lambda text: worse if WORSE in text else 0.02))


def test_a_short_post_is_read_whole() -> None:
    assert posts_with(0.9).read([f"Look. {WORSE}."])[0].hateful == pytest.approx(0.9)


@pytest.mark.parametrize("place", [0, 150, 299])
def test_one_hateful_sentence_is_found_in_a_long_post(place: int) -> None:
    """Wherever it stands; it weighs less than alone, since among many pieces one may look hateful by chance."""
    words = ["word"] * 300
    words[place] = f"{WORSE}."
    found = posts_with(0.97).read([" ".join(words)])[0].hateful
    assert 0.5 < found < 0.97
    assert posts_with(0.97).read([" ".join(["word"] * 300)])[0].hateful < 0.02


def test_texts_keep_their_order() -> None:
    """Long and short ones beside each other."""
    found = posts_with(0.9).hateful(["word " * 200, WORSE, "fine", f"{WORSE} " + "word " * 200])
    assert (found > 0.5).tolist() == [False, True, False, True]


@pytest.mark.parametrize(
    ("hateful", "said"), [(0.1, Sureness.NOT_HATEFUL), (0.5, Sureness.NOT_SURE), (0.8, Sureness.HATEFUL)]
)
def test_between_the_limits_the_reader_is_not_sure(hateful: float, said: Sureness) -> None:
    """The limits are those that the training found."""
    assert posts_with(0.9).sureness(hateful) is said


@pytest.mark.parametrize("one_in", [10, 200, 10_000])
def test_a_threshold_follows_from_the_rate_of_false_alarms(one_in: float) -> None:
    """And the rate from the threshold; a rarer alarm needs a higher one."""
    reader = posts_with(0.9)
    assert reader.false_alarms(reader.threshold(one_in)) == pytest.approx(1 / one_in, rel=0.01)
    assert reader.threshold(one_in) < reader.threshold(one_in * 2) or one_in == 10_000


def test_groups_that_are_likely_attacked_are_named() -> None:
    signs = readers_saying(hate=0.9, group=TargetGroup.JEWS, sure=0.8).posts.read(["x"])[0]
    assert signs.attacked == {TargetGroup.JEWS}


def test_a_draft_that_would_be_a_hateful_post_is_told() -> None:
    """As far as the reader of posts knows its language."""
    assert readers_saying(hate=0.95).drafts.reads_as_hate("a", "en")
    assert not readers_saying(hate=0.5).drafts.reads_as_hate("a", "en")
    assert not readers_saying(hate=0.95).drafts.reads_as_hate("a", "fr")


@pytest.mark.parametrize(("draft", "refused"), [("They take and take.", True), ("They do not take a thing.", False)])
def test_a_draft_that_may_be_hateful_by_itself_is_refused(draft: str, refused: bool) -> None:
    """Unless it contradicts something, since a good answer may repeat what it rejects."""
    drafts = readers_saying(hate=0.6).drafts
    assert (drafts.read("post", [draft], "en")[0].unfit >= drafts.limits[1]) is refused
    mild = readers_saying(hate=0.2).drafts
    assert mild.read("post", [draft], "en")[0].unfit < mild.limits[0]


def test_the_worst_fault_is_named_unless_the_draft_agrees() -> None:
    """A generic draft may be shown, so that being generic is never the worst."""
    fine = {"opposes": 0.95, "unfit": 0.8, DraftFault.GENERIC: 0.9, DraftFault.INSULTS: 0.6}
    reader = DraftReader(FakeClassifier(DRAFT_OUTPUTS, fine, ("en",)), posts_with(0.9))
    assert reader.read("post", ["a"])[0].worst is DraftFault.INSULTS
    agreeing = DraftReader(FakeClassifier(DRAFT_OUTPUTS, {**fine, "opposes": 0.1}, ("en",)), posts_with(0.9))
    assert agreeing.read("post", ["a"])[0].worst is None


@dataclass(frozen=True)
class Abroad(ByText):
    """Reads Spanish and Basque, the first well enough, and is surer of what it says."""

    @property
    def about(self) -> Mapping[str, Any]:
        """As the fake classifier's, but for languages and limits."""
        return {**super().about, "spoken": ["es", "eu"], "languages": ["es"], "unsure": (0.45, 0.55)}


def test_each_language_is_read_by_its_network() -> None:
    """Its own numbers and limits count; only where false alarms were measured are channels watched."""
    reader = PostReader(ByText(lambda _: 0.1), Abroad(lambda _: 0.6))
    read = {language: float(reader.hateful(["x"], language)[0]) for language in ("en", "es", "eu", "fr", None)}
    assert read == pytest.approx({"en": 0.1, "es": 0.6, "eu": 0.6, "fr": 0.1, None: 0.1})
    assert reader.languages == {"en", "es"}
    assert reader.watched == {"en"}
    assert reader.sureness(0.6, "es") is Sureness.HATEFUL
    assert reader.sureness(0.6, "en") is reader.sureness(0.6) is Sureness.NOT_SURE


class AbroadBeside(Abroad):
    """Spanish is read as more hateful than it says. In Basque the other network counts half as much as it does."""

    @property
    def about(self) -> Mapping[str, Any]:
        """As of its kind, and the weights of both."""
        return {**super().about, "odds": {"es": (0.3, 2.0), "eu": (0.5, 1.0, 0.5)}}


def test_two_networks_read_a_language_together_where_one_alone_is_not_sure_enough() -> None:
    """By their log-odds; elsewhere one speaks alone, as far as was fitted there."""
    reader = PostReader(ByText(lambda _: 0.9), AbroadBeside(lambda _: 0.6))
    read = {language: float(reader.hateful(["x"], language)[0]) for language in ("en", "es", "eu")}
    together = 0.5 + np.log(0.6 / 0.4) + 0.5 * np.log(0.9 / 0.1)
    alone = 0.3 + 2 * np.log(0.6 / 0.4)
    assert read == pytest.approx({"en": 0.9, "es": 1 / (1 + np.exp(-alone)), "eu": 1 / (1 + np.exp(-together))})


def test_the_weights_own_file_names_their_columns() -> None:
    """In whatever order it has them: a file of another training reads as well."""
    post = FakeClassifier(POST_OUTPUTS[::-1], {"hateful": 0.9, TargetGroup.JEWS: 0.8}, ("en",))
    signs = PostReader(post).read(["x"])[0]
    assert signs.hateful == pytest.approx(0.9)
    assert signs.attacked == {TargetGroup.JEWS}
    draft = FakeClassifier(DRAFT_OUTPUTS[::-1], {"unfit": 0.3, Intent.QUESTIONING: 0.6}, ("en",))
    said = DraftReader(draft, posts_with(0.9)).read("post", ["a"])[0]
    assert said.unfit == pytest.approx(0.3)
    assert max(said.intents, key=lambda intent: said.intents[intent]) is Intent.QUESTIONING


def test_a_sixth_intent_leaves_reading_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights that ship know five; the new one is never found in a draft before they are trained anew."""
    weights = FakeClassifier(DRAFT_OUTPUTS, {"unfit": 0.3, Intent.INFORMATIVE: 0.6}, ("en",))
    before = DraftReader(weights, posts_with(0.9)).read("post", ["a"])[0]
    more = (*Intent, "humorous")
    monkeypatch.setattr(networks, "INTENTS", more)
    monkeypatch.setattr(outputs, "DRAFT_OUTPUTS", ("unfit", "opposes", *DraftFault, *more))
    after = DraftReader(weights, posts_with(0.9)).read("post", ["a"])[0]
    told = {str(intent): share for intent, share in after.intents.items()}
    assert told == {**{intent.value: share for intent, share in before.intents.items()}, "humorous": 0.0}
    assert (after.unfit, after.opposes, after.faults) == (before.unfit, before.opposes, before.faults)
