"""``antiphon prepared`` and ``antiphon cards``: what a community adds of its own."""
