"""What chat platforms share: words, cards, decisions, capture and settings. It imports no platform."""
