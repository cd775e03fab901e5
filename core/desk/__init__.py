"""From a flagged post to a committed case, or to a refusal that says why."""
