"""What chat platforms share: words, cards, decisions, capture and settings, without a line that knows one of them."""
