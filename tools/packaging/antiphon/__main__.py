"""Starts the command line: ``antiphon``, or ``python -m antiphon``.

In a clone the parts are the folders of the repository, which the installation of the clone makes known; elsewhere they
lie in ``_parts`` beside this file.
"""

import sys
from pathlib import Path


def main() -> None:
    """Run the command line on this installation's own parts, also where others have a package called ``core``."""
    parts = Path(__file__).resolve().parent / "_parts"
    if parts.is_dir():
        sys.path.insert(0, str(parts))
    from bot.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
