"""How posts of the fediverse reach the desk: asked for by a mention, or found in a watched feed."""

from adapters.mastodon.capture.events import Capture, install

__all__ = ["Capture", "install"]
