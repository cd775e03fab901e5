"""What a person is asked to write: a reply, or a reason."""

from __future__ import annotations

from adapters.common.cards.acts import Act, Target
from adapters.common.decisions.press import NOTE, TEXT, Dialog
from core.i18n.catalogs import gettext


def edit_dialog(target: Target, text: str, locale: str) -> Dialog:
    """A reply to be written, beginning with a text."""
    title = gettext("Edit the reply", locale) if text else gettext("Write a reply", locale)
    return Dialog(target, title, gettext("Reply", locale), TEXT, text)


def note_dialog(target: Target, locale: str) -> Dialog:
    """A reason to be written down for what the target does."""
    titles = {
        Act.CLOSE_AS: gettext("Why close this case?", locale),
        Act.RETRACT_AS: gettext("Why take the reply back?", locale),
    }
    return Dialog(target, titles[target.act], gettext("Reason", locale), NOTE)
