"""What /help says in a private chat.

Owns this text, which names the commands of Telegram.
"""

from __future__ import annotations

from adapters.common.words.markup import Reader
from core.i18n.catalogs import gettext


def help_text(reader: Reader) -> str:
    """Who can do what, and what never happens."""
    locale, ours = reader.locale, reader.markup.ours
    lines = [
        gettext("It drafts replies to hateful posts. People review them; nothing is posted by itself.", locale),
        gettext("**To flag a post**: answer it with /counter in the group, or forward it to this chat.", locale),
        gettext("**/setup**: the moderators' chat, roles, what is watched, shadow mode.", locale),
        gettext("**/targets**: groups, keywords, kinds of reply, tone, evidence.", locale),
        gettext("**/status** and **/stats**: how things are now, and what happened.", locale),
        gettext("**/cases**: the open cases; **/case** with a number shows one.", locale),
        gettext("**/pause** and **/resume**: stop all posting at once, and go on.", locale),
        gettext("**/export**: the cases as a file, without names.", locale),
        gettext("What others write is read only in the groups that their administrators chose.", locale),
    ]
    return "\n".join([reader.markup.heading(gettext("Antiphon", locale)), *(ours(line) for line in lines)])
