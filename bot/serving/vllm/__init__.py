"""A vLLM server that a worker starts, watches and stops, and what is asked of one that runs elsewhere.

vLLM is a program that is started, and is never imported. It listens on the loopback interface only, runs no code of a
model, and logs no prompt.
"""
