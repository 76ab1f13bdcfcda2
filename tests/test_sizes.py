"""The house does not grow by itself."""

from tests.sizes import CEILINGS, LARGEST_MODULE, LARGEST_PAGE, modules, pages, sizes


def test_no_room_is_larger_than_its_ceiling():
    """`make sizes` prints them; what a room may hold stands in tests/sizes.py."""
    found = sizes()
    assert found.keys() == CEILINGS.keys()
    assert {room: lines for room, lines in found.items() if lines > CEILINGS[room]} == {}


def test_a_page_of_an_exercise_can_be_read_in_one_go():
    assert {name: lines for name, lines in pages().items() if lines > LARGEST_PAGE} == {}


def test_a_module_is_about_one_thing():
    assert {name: lines for name, lines in modules().items() if lines > LARGEST_MODULE} == {}
