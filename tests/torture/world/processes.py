"""Processes that are killed, forked from one that has imported what any of them needs: whoever asks first starts it."""

import multiprocessing
from typing import Final

CHILDREN: Final = multiprocessing.get_context("forkserver")
CHILDREN.set_forkserver_preload(
    [
        "tests.torture.ends.child",
        "tests.torture.ends.mastodon_intake",
        "tests.torture.ends.telegram_intake",
        "tests.torture.many.scheduler",
        "tests.torture.many.worker",
    ]
)
