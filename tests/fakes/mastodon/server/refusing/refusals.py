"""What the fake instance refuses, in the words of Mastodon."""

from collections.abc import Mapping
from typing import Final

FORBIDDEN: Final = "This action is not allowed"
NOT_FOUND: Final = "Record not found"
NO_PARENT: Final = "The post you are trying to reply to does not appear to exist."
NO_REPLIES: Final = "Forbidden: you do not have permission to reply to this status"
NO_SCOPE: Final = "This action is outside the authorized scopes"
NO_TOKEN: Final = "The access token is invalid"
NO_USER: Final = "This method requires an authenticated user"
TOO_MANY: Final = "Too many requests"


class Refused(Exception):
    """A request that is answered by an error.

    Attributes:
        code: the status.
        body: of the answer.
        headers: beside the usual ones.
    """

    def __init__(self, code: int, words: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(words)
        self.code = code
        self.body = {"error": words}
        self.headers = dict(headers or {})
