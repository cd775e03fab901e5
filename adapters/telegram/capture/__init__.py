"""How posts of Telegram reach the desk: asked for, forwarded, flagged, or found."""
