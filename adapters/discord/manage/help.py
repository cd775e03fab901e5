"""What ``/antiphon help`` says, and what ``status`` says of what the bot may not read.

Owns these texts, which name the commands and menus of Discord.
"""

from __future__ import annotations

from core.i18n.catalogs import gettext


def may_not_read(locale: str) -> str:
    """How posts are flagged without the message-content intent."""
    return gettext(
        "The bot may not read messages: posts are flagged by their menu and by /counter, not by reaction, "
        "AutoMod or filter.",
        locale,
    )


def help_text(locale: str) -> str:
    """Who can do what, and what never happens."""
    return "\n".join(
        [
            f"## {gettext('Antiphon', locale)}",
            gettext("It drafts replies to hateful posts. People review them; nothing is posted by itself.", locale),
            gettext("**To flag a post**: hold or right-click it, Apps, then “Draft a reply”.", locale),
            gettext("**/counter**: the same with a link to a message, or with words from anywhere.", locale),
            gettext("**/antiphon setup**: review channel, roles, watched channels, shadow mode.", locale),
            gettext("**/antiphon targets**: groups, keywords, kinds of reply, tone, evidence.", locale),
            gettext("**/antiphon cases** and **case**: the open cases, and one of them by its number.", locale),
            gettext("**/antiphon status** and **stats**: how things are now, and what happened.", locale),
            gettext("**/antiphon lately**: who decided what.", locale),
            gettext("**/antiphon pause** and **resume**: stop all posting at once, and go on.", locale),
            gettext("**/antiphon export**: the cases as a file, without names.", locale),
            gettext("Private channels and direct messages are never read.", locale),
        ]
    )
