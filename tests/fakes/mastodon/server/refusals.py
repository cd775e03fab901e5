"""What the fake instance refuses, in the words of Mastodon."""

from __future__ import annotations

from collections.abc import Mapping

FORBIDDEN = "This action is not allowed"
NOT_FOUND = "Record not found"
NO_PARENT = "The post you are trying to reply to does not appear to exist."
NO_SCOPE = "This action is outside the authorized scopes"
NO_TOKEN = "The access token is invalid"
TOO_MANY = "Too many requests"


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
