"""How a document is cited, so that a reader can open it."""

from core.models import Source
from kb.documents import citation
from tests.fakes.documents.source import listed


def test_a_document_of_the_web_is_cited_with_its_address() -> None:
    assert citation(listed(1, document="A/RES/1"), 3) == Source(
        "Example", "Report 1", 2020, "A/RES/1, p. 3", "https://example.org/1"
    )


def test_a_file_is_cited_as_a_file_of_the_community() -> None:
    """Protects readers from an address that opens nothing."""
    file = listed(1, id="folder/town:a/homes.pdf", page="folder/town:a/homes.pdf", publisher="", year=None)
    assert citation(file, 3) == Source("a file of this community", "Report 1", None, "p. 3, homes.pdf", "")
    named = listed(1, id="folder:homes.txt", page="folder:homes.txt", publisher="Town hall")
    assert citation(named) == Source("Town hall", "Report 1", 2020, "homes.txt, a file of this community", "")


def test_a_page_is_cited_by_its_printed_number_and_its_place_in_the_file() -> None:
    assert citation(listed(1), 5, "2").document == "p. 2 (page 5 of the file)"
    assert citation(listed(1), 5, "5").document == "p. 5"
    assert citation(listed(1), 5).document == "p. 5"
