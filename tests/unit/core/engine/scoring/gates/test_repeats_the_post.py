"""A draft may not say again what the post says, in any language: small models do where they are lost for words."""

import pytest

from core.engine.scoring.gates import GateContext, fault_of
from tests.fakes.engine.brief import brief_of

POST = "Gli immigrati sono parassiti: arrivano, prendono e non danno niente. Lo sanno tutti!"


@pytest.mark.parametrize(
    ("text", "repeats"),
    [
        (POST, True),
        ("gli immigrati sono parassiti, arrivano prendono e non danno niente", True),
        ("Ti capisco. Gli immigrati sono parassiti: arrivano, prendono e non danno niente.", True),
        ("Gli immigrati sono parassiti: arrivano, prendono e non danno niente?", False),
        ("«Gli immigrati sono parassiti: arrivano, prendono e non danno niente.» Chi parla di persone?", False),
        ("Non è vero che gli immigrati sono parassiti: arrivano, lavorano e danno molto.", False),
        ("Lo sanno tutti!", False),
    ],
)
def test_a_sentence_of_the_post_is_not_said_again(text: str, repeats: bool) -> None:
    """Who denies, questions or quotes it may; a few words are said again by chance."""
    fault = fault_of(text, GateContext(brief_of(text=POST, language="it"), 400))
    assert (fault == "repeats the post") == repeats
