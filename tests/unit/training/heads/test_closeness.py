"""What is measured of the limits of a community's own stereotypes: each with its rivals, on posts about its group."""

import numpy as np

from core.engine.cards.bank import load_stereotypes
from core.models import TargetGroup
from training.heads.closeness import compared
from training.heads.router import LabelledText


def test_a_stereotype_is_compared_with_the_others_of_its_group() -> None:
    """With itself among its rivals nothing would ever be found."""
    jobs, crime = load_stereotypes()["migrants/jobs"], load_stereotypes()["migrants/crime"]
    posts = [
        LabelledText("They took my job.", "en", TargetGroup.MIGRANTS, ((jobs.id,),), "dev"),
        LabelledText("They cannot drive.", "en", TargetGroup.WOMEN, (("women/driving",),), "dev"),
    ]
    close = {
        jobs.id: np.array([[0.9, 0.9], [0.1, 0.1]], dtype=np.float32),
        crime.id: np.array([[0.25, 0.5], [0.1, 0.1]], dtype=np.float32),
    }
    found = set(compared(posts, [jobs, crime], close, 2))
    assert {(round(near, 1), round(rival, 1), is_seen) for near, rival, is_seen in found} == {
        (0.9, 0.5, True),
        (0.5, 0.9, False),
    }
