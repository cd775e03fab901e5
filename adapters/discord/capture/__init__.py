"""How posts of Discord reach the desk: asked for, flagged, or found."""

from adapters.discord.capture.events import Capture, install

__all__ = ["Capture", "install"]
