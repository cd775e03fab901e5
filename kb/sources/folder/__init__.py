"""Folders of files: what is taken from them, what people say about each file, and the folder of files added singly."""
