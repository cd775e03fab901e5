"""The code challenge of OAuth (RFC 7636), which binds a code to who asked for it."""

import base64
import hashlib


def challenge_of(verifier: str) -> str:
    """The ``code_challenge`` of a verifier (section 4.2, S256)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
