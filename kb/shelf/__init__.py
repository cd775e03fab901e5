"""The library as it is searched: on this machine or on a Qdrant server."""
