"""Stage 5: which drafts are compared, what the judge says of them, and their final order."""
