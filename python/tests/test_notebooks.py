"""What a notebook shows: names of users are text, and never markup."""

from __future__ import annotations

import storymeter as sm

HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m"


def test_names_are_escaped() -> None:
    stories = [{"system": HOSTILE, "story": "Rain."}, {"system": "b", "story": "Rain fell."}]
    result = sm.score(stories, metrics=["text-length"])
    page = result._repr_html_()
    assert "<img" not in page and "&lt;img src=x" in page
    # The names of the columns and one row per story, because there are few.
    assert page.count("<tr>") == 3
    # A terminal must not obey them either.
    assert "\x1b" not in str(result) and HOSTILE not in str(result)
    assert result.systems[0].system == HOSTILE
