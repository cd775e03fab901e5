"""The parts of the weights that are installed are those that Antiphon expects."""

from core.engine.backends.weights import PACKAGED, package_file


def test_packages_are_found_without_running_them():
    """The installed parts are the ones that the default hash belongs to."""
    files = [package_file(number) for number in range(1, PACKAGED.count + 1)]
    assert sum(file.stat().st_size for file in files if file) == PACKAGED.size_bytes
    assert package_file(PACKAGED.count + 1) is None
