"""Records of a library's catalogue are read whole or not at all."""

import pytest

from kb.sources.un import NotMarcXml, read_collection

RECORD = (
    '<record><controlfield tag="001"> 7 </controlfield><controlfield tag="005">x</controlfield>'
    '<datafield tag="245" ind1=" " ind2=" "><subfield code="a">A  neutral\n title</subfield>'
    '<subfield code="b"/></datafield>'
    '<datafield tag="650"><subfield code="a">ONE</subfield></datafield>'
    '<datafield tag="650"><subfield code="a">TWO</subfield></datafield><datafield tag="999"/></record>'
)


@pytest.mark.parametrize("namespace", ["", ' xmlns="http://www.loc.gov/MARC21/slim"'])
def test_records_are_read_with_and_without_their_namespace(namespace: str) -> None:
    data = f"<collection{namespace}><!-- Search-Engine-Total-Number-Of-Results: 12 -->{RECORD}</collection>".encode()
    (record,), total = read_collection(data)
    assert total == 12
    assert record.number == "7"
    assert record.first("245", "a") == "A neutral title"
    assert record.first("245", "b") is None
    assert record.values("650", "a") == ["ONE", "TWO"]
    assert record.first("999", "a") is None


def test_an_answer_need_not_say_how_many_there_are() -> None:
    assert read_collection(b"<collection></collection>") == ([], None)


LAUGHS = '<!DOCTYPE c [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><collection>&b;</collection>'
OUTSIDE = '<!DOCTYPE c [<!ENTITY a SYSTEM "file:///etc/hosts">]><collection>&a;</collection>'


@pytest.mark.parametrize("text", [f"<collection>{RECORD}", LAUGHS, OUTSIDE, "<a/>", "", "no XML"])
def test_what_is_broken_or_defines_entities_or_is_something_else_is_refused(text: str) -> None:
    with pytest.raises(NotMarcXml):
        read_collection(text.encode())
