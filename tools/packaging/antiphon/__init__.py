"""The one package that an installation puts into an environment.

Owns nothing but the start: the parts (core, kb, adapters, bot) and config.toml lie below it in ``_parts``, so that no
package of theirs collides with another project's. pyproject.toml says what goes where.
"""
