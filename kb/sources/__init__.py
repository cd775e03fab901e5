"""The places that documents come from: the UN Digital Library, EUR-Lex, FRA, and folders of files."""

from typing import Final

MAX_DOCUMENT_BYTES: Final = 100 * 2**20
"""The largest file that is taken from any of them."""
