"""Review on Mastodon: cards as direct statuses to moderators, and what they answer below them."""

from adapters.mastodon.review.installing import install
from adapters.mastodon.review.notices import MastodonNotifier
from adapters.mastodon.review.surface import MastodonReviewSurface

__all__ = ["MastodonNotifier", "MastodonReviewSurface", "install"]
