"""The reader of drafts at the desk: each text is read once, and of the texts only hashes are remembered."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from bot.compose.application import RememberingReader
from core.engine.readers.networks import DraftReader, PostReader
from core.engine.readers.outputs import DRAFT_OUTPUTS, POST_OUTPUTS, DraftFault
from tests.fakes.engine.readers import FakeClassifier

POST = "Migrants only come here to live off our welfare."
TEXT = "They should be beaten."


@pytest.fixture
def model() -> FakeClassifier:
    """One that thinks that each text calls for harm."""
    return FakeClassifier(DRAFT_OUTPUTS, {"unfit": 0.9, "opposes": 0.99, DraftFault.CALLS_FOR_HARM: 0.9}, ("en",))


@pytest.fixture
def reader(model: FakeClassifier) -> RememberingReader:
    return RememberingReader(DraftReader(model, PostReader(FakeClassifier(POST_OUTPUTS, {}, ("en",)))))


def test_the_same_bytes_are_read_once(model: FakeClassifier, reader: RememberingReader) -> None:
    """Also where two persons ask at the same moment."""
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: reader.read(POST, TEXT, "en"), range(8)))
    assert found[0] is not None
    assert found[0].fault == "calls for harm or exclusion"
    assert all(one is found[0] for one in found)
    assert len(model.calls) == 1


def test_another_text_or_another_post_is_read(model: FakeClassifier, reader: RememberingReader) -> None:
    """What a text does depends on the post above it."""
    for post, text in ((POST, TEXT), (POST, f"{TEXT} "), (TEXT, POST)):
        reader.read(post, text, "en")
    assert len(model.calls) == 3


def test_only_the_last_texts_are_remembered(model: FakeClassifier, reader: RememberingReader) -> None:
    """A desk runs for months."""
    for number in range(200):
        reader.read(POST, f"{TEXT} {number}", "en")
    reader.read(POST, f"{TEXT} 199", "en")
    assert len(model.calls) == 200
    reader.read(POST, f"{TEXT} 0", "en")
    assert len(model.calls) == 201
