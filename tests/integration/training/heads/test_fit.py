"""The network that tells whether a reply fits: what it learns from, and that it can be trained and read."""

import random
from itertools import groupby
from pathlib import Path

import pytest
import torch

from core.engine.backends.encoders import SmallEncoder
from core.engine.cards.answers import FIT, PLACE, answers, fits_of
from training.corpus import called
from training.heads import fit
from training.heads.epochs import Values
from training.heads.fit import Judged, Verdict, in_groups, judged, loss_of, trained


@pytest.fixture(scope="module")
def rows() -> list[Judged]:
    """All verdicts."""
    return list(judged())


def test_verdicts_are_on_replies_as_they_would_be_shown(rows: list[Judged]) -> None:
    """With the people's name in its place; each post is on one side alone, and both sides have every verdict."""
    assert len(rows) > 25_000
    assert not [row.spoken for row in rows if PLACE in row.spoken.text + row.spoken.says]
    sides = [{row.post for row in rows if row.is_dev is is_dev} for is_dev in (False, True)]
    assert sides[0].isdisjoint(sides[1])
    for is_dev in (False, True):
        assert {row.verdict for row in rows if row.is_dev is is_dev} == set(Verdict)


def test_a_reply_without_a_name_in_the_post_speaks_of_its_group() -> None:
    """What is true of several peoples is said of those whom the post names, else of the group it was written for."""
    one = next(one for one in answers() if "faith" in one.kinds and one.group == "Muslims" and not one.who)
    assert "Sikhs" in called(one, "sikhs again, I knew it")[0]
    assert "Muslims" in called(one, "them again, I knew it")[0]


def test_replies_under_one_post_are_learnt_side_by_side() -> None:
    """At most twelve together, nothing lost, and each reply with what it was given."""
    posts = [
        [((f"post {post}", f"reply {at}"), float(at == 0)) for at in range(count)] for post, count in ((1, 5), (2, 30))
    ]
    shown = in_groups(posts, [("own post", "own reply")], random.Random(1))
    assert {(pair, target[0]) for pair, target in shown if pair[0] != "own post"} == {
        row for rows in posts for row in rows
    }
    groups = [[pair for pair, _ in rows] for _, rows in groupby(shown, key=lambda row: row[1][1])]
    assert len(groups) == len({target[1] for _, target in shown}) == 5
    assert all(len(group) <= 12 and len({post for post, _ in group}) == 1 for group in groups)


def test_the_order_under_a_post_costs_beside_each_reply() -> None:
    """A wrong order costs more within a post than between two, where each reply costs for itself alone."""
    logits = torch.tensor([[0.0], [1.0]])
    within, between = (loss_of(logits, torch.tensor([[1.0, 0], [0.0, group]])) for group in (0, 1))
    alone = torch.nn.functional.binary_cross_entropy_with_logits(logits[:, 0], torch.tensor([1.0, 0]))
    assert float(between) == pytest.approx(float(alone))
    assert within > between
    assert loss_of(-logits, torch.tensor([[1.0, 0], [0.0, 0]])) < within


def test_a_trained_network_is_written_and_read(
    rows: list[Judged], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It goes on from the network that ships; what the network says is told for each reply."""
    monkeypatch.setattr(fit, "judged", lambda: rows)
    tuned = trained(tmp_path, Values(epochs=1, learning_rate=1e-3, faster=4.0), most=16)
    assert tuned.before > 0.5, "what ships tells replies that fit from others"
    assert 0 <= tuned.after <= 1
    network, replies = SmallEncoder(tmp_path / FIT.name), [("Women drive well.", "says that women drive badly")] * 2
    assert network.about["rows"] == 16
    fits = fits_of("women cant drive", replies, network)
    assert fits.shape == (2,)
    assert fits[0] == fits[1]
