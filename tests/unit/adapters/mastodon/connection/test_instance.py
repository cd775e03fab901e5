"""What an instance says of itself, in the words of several kinds of software."""

from typing import Any

import pytest

from adapters.mastodon.connection.instance import Feed, instance_of

KEEP_KEYS = ("4.5.2", "4.4.0+glitch", "3.5.3", "10.0.1", "4.6.0-beta.1")
MAY_NOT = ("0.20.2+git-24f6760", "2.7.2 (compatible; Takahe 0.11)", "4.2.1 (compatible; Iceshrimp 2023)", "", "2.8.0")


@pytest.mark.parametrize("version", KEEP_KEYS)
def test_mastodon_and_its_forks_keep_a_key_for_half_an_hour_at_least(version: str) -> None:
    assert instance_of({"version": version, "domain": "a.example"}).key_seconds == 1800


@pytest.mark.parametrize("version", MAY_NOT)
def test_other_software_may_ignore_keys(version: str) -> None:
    assert instance_of({"version": version, "domain": "a.example"}).key_seconds == 0


def test_what_it_leaves_out_is_as_usual() -> None:
    found = instance_of({"version": "4.5.2", "uri": "Home.Example"})
    assert (found.domain, found.max_characters, found.url_characters) == ("home.example", 500, 23)
    assert (dict(found.feeds), found.rules) == ({}, ())


def test_what_it_says_is_read() -> None:
    said: dict[str, Any] = {
        "domain": "home.example",
        "version": "4.5.2",
        "configuration": {
            "statuses": {"max_characters": 5000, "characters_reserved_per_url": 30},
            "timelines_access": {"live_feeds": {"local": "public", "remote": "nobody knows"}, "odd": "x"},
        },
        "rules": [{"id": "1", "text": "Be kind."}],
    }
    found = instance_of(said)
    assert (found.max_characters, found.url_characters) == (5000, 30)
    assert dict(found.feeds) == {"live_feeds.local": Feed.PUBLIC}
    assert found.rules == ("Be kind.",)


def test_the_old_answer_is_read_too() -> None:
    found = instance_of({"uri": "https://home.example", "max_toot_chars": 1000})
    assert (found.domain, found.max_characters) == ("home.example", 1000)
