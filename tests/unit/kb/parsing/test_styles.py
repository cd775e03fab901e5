"""What a style says, and whether it hides."""

import pytest

from kb.parsing.html import colour, declarations, has_background, hides, is_white, rules


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "Display : NONE !important",
        "visibility: hidden",
        "opacity: 0.0",
        "font-size: 0",
        "font-size: .1em",
        "font-size: 1px",
        "font-size: 1.5pt",
        "color: rgba(0, 0, 0, 0)",
        "color: #fff; background-color: white",
        "color: #123; background: rgb(17, 34, 51)",
        "left: -1000px; position: absolute",
        "text-indent: -99em",
        "overflow: hidden; max-height: 0",
        "position: absolute; clip: rect(0 0 0 0)",
        "transform: scale(0)",
        "transform: scale(0, 1)",
        "transform: scaleX(0)",
        "transform: rotate(2deg) scale(0.0)",
        "scale: 0",
        "transform: matrix(0, 0, 0, 0, 0, 0)",
        "transform: scale3d(0, 0, 0)",
    ],
)
def test_a_style_that_hides(style):
    assert hides(declarations(style))


@pytest.mark.parametrize(
    "style",
    [
        "",
        "display: block",
        "opacity: 0.5",
        "opacity: 1",
        "font-size: 9pt",
        "font-size: 80%",
        "color: black",
        "color: white; background: #003399",
        "color: inherit",
        "text-indent: -2em",
        "overflow: hidden",
        "overflow: hidden; width: 300px",
        "height: 0",
        "nonsense",
        "transform: scale(1)",
        "transform: scale(0.95)",
        "transform: none",
        "scale: 1",
    ],
)
def test_a_style_that_does_not_hide(style):
    assert not hides(declarations(style))


@pytest.mark.parametrize(
    ("value", "channels"),
    [
        ("#fff", (255, 255, 255)),
        ("#fefefe", (254, 254, 254)),
        ("#ffffff00", ()),
        ("transparent", ()),
        ("rgb(100%, 100%, 100%)", (255, 255, 255)),
        ("rgb(0 51 153 / 1)", (0, 51, 153)),
        ("navy", (0, 0, 128)),
        ("inherit", None),
        ("var(--ink)", None),
        ("#ggg", None),
    ],
)
def test_colours(value, channels):
    assert colour(value) == channels


def test_white_is_white_and_what_can_hardly_be_told_from_it():
    assert is_white(declarations("color: white"))
    assert is_white(declarations("color: #f9fafb"))
    assert not is_white(declarations("color: #dddddd"))


def test_a_picture_counts_as_a_background_and_white_does_not():
    assert has_background(declarations("background: url(sky.png)"))
    assert has_background(declarations("background: linear-gradient(red, blue)"))
    assert not has_background(declarations("background: #fff"))
    assert not has_background(declarations("background: none"))


def test_only_plain_rules_of_a_sheet_are_taken():
    sheet = """
    @import url(other.css); /* .no { display: none } */
    .a, #b { display: none; color: red }
    @media print { .c { display: none } }
    .d { color: white }
    .open {
    """
    assert [selector for selector, _ in rules(sheet)] == [".a, #b", ".d"]


def test_no_more_than_2000_rules_of_a_sheet_are_taken():
    assert len(list(rules("a{color:red}" * 5000))) == 2000
