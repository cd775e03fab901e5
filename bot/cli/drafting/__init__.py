"""``draft``, ``check`` and ``read``: one post at a time, from the command line. Must never post."""
