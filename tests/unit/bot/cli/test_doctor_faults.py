"""Each fault that ``antiphon doctor`` tells apart is caused by a test, which compares check and remedy."""

from pathlib import Path

from tests.fakes.machine.doctor_faults import rows

_TESTS = Path(__file__).parents[3] / "integration" / "bot" / "cli" / "doctor"


def test_each_breakage_of_the_table_is_caused() -> None:
    """A test that names one that is not in the table fails by itself (``tests.fakes.machine.doctor_faults.told``)."""
    named = "".join(file.read_text("utf-8") for file in sorted(_TESTS.glob("test_*.py")))
    assert [breakage for breakage in rows() if f'"{breakage}"' not in named] == []
