"""Stages 2 and 3: what the drafts argue, and the evidence for it."""
