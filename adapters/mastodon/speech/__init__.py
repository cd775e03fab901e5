"""From statuses to the text that people read, and from our words to inert direct statuses."""
