"""The interview panel in a real browser: Enter alone leads through it, arrows go back and forth, on a phone too."""

import pytest

from sdpa_helpers.course.interview import interview
from tests.browser.harness import open_page


@pytest.mark.parametrize("width", [1280, 390])
def test_enter_and_arrows_lead_through_it(browser, width):
    page = open_page(browser, width=width)
    page.set_content(f"<body style='margin:8px'>{interview(3, '05', seed=2).html()}</body>")
    panel = page.locator(".panel.interview")
    main = panel.locator("button.main")
    assert panel.locator(".reply").inner_text() == ""
    main.focus()
    for _ in range(2):  # show, next
        page.keyboard.press("Enter")
    assert panel.locator(".about b").inner_text().lower() == "question 2 of 3"
    page.keyboard.press("ArrowRight")
    assert "The trap." in panel.locator(".reply").inner_text()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert panel.locator(".about b").inner_text().lower() == "question 1 of 3"
    assert "Measured in" in panel.locator(".reply").inner_text()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.log.thrown == []


@pytest.mark.parametrize("width", [1280, 390])
def test_one_clock_of_a_route_runs_at_a_time(browser, width):
    page = open_page(browser, width=width)
    page.set_content(f"<body style='margin:8px'>{interview(minutes=90, seed=7).html()}</body>")
    clocks = page.locator(".panel.route button")
    assert clocks.all_inner_texts() == [f"Start {minutes}:00" for minutes in (18, 10, 10, 12, 15, 25)]
    clocks.nth(1).click()
    assert clocks.nth(1).inner_text() in ("10:00", "9:59")
    clocks.nth(4).click()
    assert clocks.nth(4).inner_text() in ("15:00", "14:59")
    assert clocks.nth(1).inner_text() == "Start 10:00"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.log.thrown == []
