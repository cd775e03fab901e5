"""What the fake Telegram refuses, in the words of the real one."""

from typing import Any

_NAMES = {
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 409: "Conflict",
    429: "Too Many Requests", 500: "Internal Server Error", 502: "Bad Gateway",
}  # fmt: skip


class Refused(Exception):
    """A request that is answered by an error.

    Attributes:
        code: the status and the ``error_code``.
        body: of the answer.
    """

    def __init__(self, code: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.body: dict[str, Any] = {"ok": False, "error_code": code, "description": description}
        if parameters:
            self.body["parameters"] = parameters


def refused(code: int, words: str = "", **parameters: Any) -> Refused:
    return Refused(code, f"{_NAMES[code]}: {words}" if words else _NAMES[code], parameters)
