"""Stage 4: the drafts, from prepared sentences and from the model, and the search that improves them."""
