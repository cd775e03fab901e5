"""The steps from each revision of the schema to the next. A released step is never changed."""
