"""The language models, embedding models and classifiers, each behind a port, and how they are found and loaded."""
