"""Models that stay loaded between two calls of ``antiphon draft`` and ``antiphon kb search``.

``process`` is the background process that has them, ``asking`` how a command asks it, ``place`` where both meet and
when they fit each other. Must never answer for other settings than the command's, another user, or a post that nobody
asked about, and never keep an answer.
"""
