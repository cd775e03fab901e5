"""The plain words of the tests are a markup as any platform's."""

from __future__ import annotations

from adapters.common.words.markup import Markup
from tests.fakes.ports.plain_markup import PlainMarkup
from tests.markup_conformance import MarkupConformance


class TestPlainMarkup(MarkupConformance):
    """So that what holds with them holds with others."""

    markup: Markup = PlainMarkup()
