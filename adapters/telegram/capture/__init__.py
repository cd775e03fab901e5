"""How posts of Telegram reach the desk: asked for, forwarded, flagged, or found."""

from adapters.telegram.capture.events import Capture, install

__all__ = ["Capture", "install"]
