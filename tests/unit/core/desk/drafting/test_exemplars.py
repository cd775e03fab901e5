"""A draft learns from the community's own replies to posts like this one, and must not sound like the latest."""

import pytest

from core.desk.drafting.request import closest, remember
from core.desk.store.suggestions import PostedReply

POST = "Migrants only come here to live off our welfare."
WELFARE = PostedReply("These migrants live off the welfare that we pay.", "Our neighbours work and pay in like you do.")
HOSTEL = PostedReply("The hostel is full of migrants again.", "They are people who need a roof, as we all do.")
FLAG = PostedReply("Take down that rainbow banner.", "Everybody may show who they are in this town.")


def test_replies_to_the_closest_posts_come_first() -> None:
    """Closest by the post that they answered, not by time or by what they say; one about something else stays out."""
    memory = remember(POST, [FLAG, HOSTEL, WELFARE], "en")
    assert memory.exemplars == (WELFARE.text, HOSTEL.text)


def test_at_most_three_exemplars_each_once() -> None:
    """CoARL's number; a reply that was posted twice teaches once."""
    posted = [PostedReply(WELFARE.post, f"They pay taxes in street {n // 2}.") for n in range(12)]
    memory = remember(POST, posted, "en")
    assert memory.exemplars == tuple(f"They pay taxes in street {n}." for n in range(3))


def test_a_word_of_support_or_a_notice_teaches_no_reply() -> None:
    notice = PostedReply(WELFARE.post, "Please keep to the subject.", is_argued=False)
    memory = remember(POST, [notice, WELFARE], "en")
    assert memory.exemplars == (WELFARE.text,)
    assert notice.text in memory.recent


def test_the_latest_replies_are_not_to_be_said_again() -> None:
    """Twenty of them, latest first, whatever they answered; and an older one too where it is shown as an exemplar."""
    others = [PostedReply(FLAG.post, f"Reply number {n}.") for n in range(30)]
    memory = remember(POST, [*others, WELFARE], "en")
    assert memory.recent == (*(reply.text for reply in others[:20]), WELFARE.text)


@pytest.mark.parametrize(
    "reply",
    [
        "Nuestros vecinos trabajan y pagan sus impuestos todos los meses, igual que lo hacemos nosotros.",
        "Our neighbours work, and they pay their taxes as well. " * 10,
    ],
    ids=["language", "length"],
)
def test_what_would_teach_the_wrong_thing_is_no_exemplar(reply: str) -> None:
    """A reply in another language than the draft's, or much longer; the next one takes its place."""
    memory = remember(POST, [PostedReply(POST, reply), WELFARE], "en")
    assert memory.exemplars == (WELFARE.text,)
    assert reply in memory.recent


def test_a_post_in_another_language_of_ours_has_exemplars_in_it() -> None:
    """The draft will be in the post's language, not in the community's."""
    spanish = "Nuestros vecinos trabajan y pagan sus impuestos todos los meses."
    post = "Los inmigrantes solo vienen aquí para vivir de nuestras ayudas."
    posted = [PostedReply("Los inmigrantes viven de las ayudas.", spanish), PostedReply(post, WELFARE.text)]
    assert remember(post, posted, "en").exemplars == (spanish,)


def test_an_exemplar_stays_on_its_line() -> None:
    """Lines in a reply must not look like lines of the prompt; its words are those that were approved."""
    memory = remember(POST, [PostedReply(WELFARE.post, "They work here.\n\nThey pay  taxes too.")], "en")
    assert memory.exemplars == ("They work here. They pay taxes too.",)


def test_without_posted_replies_nothing_is_learnt() -> None:
    """The first drafts of a community come without."""
    assert (remember(POST, [], "en").recent, remember(POST, [], "en").exemplars) == ((), ())


def test_only_words_of_meaning_make_posts_close() -> None:
    """Function words are shared by all posts, and a post may hold none but those, or what looks like a query."""
    assert closest(POST, ["What are they here for?", "Only the two of them."], "en") == []
    assert closest("the and of", [WELFARE.post], "en") == []
    assert closest('migrants" AND (welfare:*', [FLAG.post, WELFARE.post], "en") == [1]


def test_rare_words_weigh_more_and_ties_keep_the_order() -> None:
    """BM25: what most posts share says little; of equals the latest reply comes first."""
    answered = ["migrants come", "migrants welfare", "migrants come", "migrants come"]
    assert closest("migrants welfare come", answered, "en") == [1, 0, 2, 3]
