"""The one package that an installation puts into an environment.

The parts (core, kb, adapters, bot, training) and config.toml lie below in ``_parts``, so that no package of theirs
collides with another project's. pyproject.toml says what goes where.
"""
