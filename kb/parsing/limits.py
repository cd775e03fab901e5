"""What reading one document may cost: plain numbers, shared by the process that asks and the one that reads."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsingLimits:
    """What one document may cost.

    Above ``pages``, ``ocr_pages`` and ``characters`` the rest is left out and a note says so; above ``pixels`` a page
    is read at a lower resolution; above the others the document is refused.

    Attributes:
        file_bytes: the size of the file.
        memory_bytes: the address space of the process that reads, including code and libraries (about 150 MiB).
        cpu_seconds: its processor time; a program for OCR has the same again for each page.
        seconds: the time on the clock, from the start of the process.
        pages: how many pages are read.
        ocr_pages: how many of them are read by OCR.
        pixels: the size of a page's picture for OCR.
        characters: how much text is read, in characters.
        unzipped_bytes: the size of a zip archive's members, unpacked.
        members: how many members a zip archive may have.
    """

    file_bytes: int = 64 * 2**20
    memory_bytes: int = 2**30
    cpu_seconds: int = 60
    seconds: float = 120.0
    pages: int = 2000
    ocr_pages: int = 50
    pixels: int = 12_000_000
    characters: int = 5_000_000
    unzipped_bytes: int = 256 * 2**20
    members: int = 5000
