"""``antiphon model try``: what a person sees of it, and what is known of the model afterwards."""

import json

from tests.e2e.conftest import Antiphon


def test_a_model_is_tried_and_doctor_shows_what_it_is_fit_for(drafter: Antiphon) -> None:
    """This one takes every post for hateful and writes nothing to the plain question, so that it is fit for nothing."""
    done = drafter("model", "try", "--posts", "1", "--price-in", "1", "--price-out", "2")
    assert done.code == 1, done
    assert all(f"Read rightly in {name}: 0 of 10." in done.out for name in ("English", "Spanish", "Italian", "Basque"))
    assert "Compared rightly: 0 of 8." in done.out
    assert "[en] Enjoy the market while it lasts." in done.out
    assert " at 1 and 2 a million." in done.out
    assert "The small readers read alone in English, Spanish, Italian and Basque." in done.out
    told = json.loads(drafter("doctor", "--json").out)
    (found,) = [check for check in told["checks"] if check["name"] == "model tried"]
    assert found["ok"]
    assert "It is not fit to read in English, Spanish, Italian and Basque." in found["detail"]
    drafted = json.loads(drafter("draft", "Migrants only come here to live off our welfare.", "--json").out)
    assert "model_unfit_to_read" in [note["code"] for note in drafted["degraded"]]
    assert drafted["reading"]["read_by"] == "small reader"


def test_a_file_of_readings_that_cannot_be_used_is_refused_at_once(drafter: Antiphon) -> None:
    """Before the model is asked."""
    (drafter.home / "own.toml").write_text('[en]\nhateful = ["a"]\nharmless = ["b"]\n')
    done = drafter("model", "try", "--readings", "own.toml")
    assert done.code == 2
    assert "own.toml has posts in 'en'." in done.err


def test_a_language_that_the_model_is_fit_for_is_drafted_in(drafter: Antiphon) -> None:
    """As a community names it, and not before the model was tried."""
    french = "Les migrants ne viennent ici que pour vivre de nos aides sociales, ils ne travaillent jamais."
    naming = drafter.having(ANTIPHON__COMMUNITY__LANGUAGES="fr")
    assert naming("draft", french).code == 3
    assert "found fit to read and write fr" in naming("doctor").out
    url, fit = drafter.variables["ANTIPHON__LLM__BASE_URL"], {"right": 10, "of": 10}
    trial = {"server": url, "model": "fake", "day": "2026-11-29", "readings": {"fr": fit}, "drafts": {"fr": fit}}
    file = drafter.home / "data" / "antiphon" / "models.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps({"models": [trial]}))
    assert drafter("draft", french).code == 3
    found = naming("draft", french, "--json").document
    assert "model_did_not_read" in [note["code"] for note in found["degraded"]]


def test_a_number_of_posts_that_there_are_not_is_refused(drafter: Antiphon) -> None:
    done = drafter("model", "try", "--posts", "100")
    assert done.code == 2
    assert "There are 18 sample posts." in done.err
