"""Model servers behind the OpenAI protocol: whether they are there, the calls to them, and what their errors say."""
