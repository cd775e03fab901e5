"""A reader of what people write at the desk that says what a test tells it to."""

from collections.abc import Callable

from core.engine.readers.networks import DraftSigns
from core.engine.readers.outputs import DraftFault
from core.engine.scoring.check import ReplyReading
from core.errors import IndexUnavailable
from core.models import Intent

LIMITS = (0.4, 0.7)


def read_as(unfit: float, fault: DraftFault = DraftFault.CALLS_FOR_HARM) -> ReplyReading:
    """What the reader says of a text that is unfit for one fault, with this probability."""
    shares = {other: unfit if other is fault else 0.01 for other in DraftFault}
    return ReplyReading(DraftSigns(unfit, 0.99, shares, dict.fromkeys(Intent, 0.2)), LIMITS)


class FakeEditReader:
    """An ``EditReader``: ``says`` for each text in English, nothing in another language.

    Attributes:
        asked: the texts that it was asked to read.
        before: called before each reading.
    """

    def __init__(self, says: ReplyReading) -> None:
        self.says = says
        self.asked: list[str] = []
        self.before: Callable[[], None] = lambda: None
        self.is_damaged = False

    def read(self, post: str, text: str, language: str) -> ReplyReading | None:
        """What the test wants; whatever the post is."""
        self.before()
        self.asked.append(text)
        if self.is_damaged:
            raise IndexUnavailable("The weights of a reader cannot be read.", remedy="Install it again.")
        return self.says if language == "en" else None
