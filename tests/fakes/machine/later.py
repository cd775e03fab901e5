"""Libraries that one file of tests needs and that take seconds to import."""

import importlib
from typing import Any


class Later:
    """Stands for the module of that name, which is imported as soon as something of it is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):  # what pytest looks for in all that a file of tests holds
            raise AttributeError(attribute)
        return getattr(importlib.import_module(self._name), attribute)
