"""Two wordings of a sentence by lot: who reads which, the plan before, and what may be said after."""

from dataclasses import replace

import numpy as np
import pytest

from sdpa_helpers.classroom.room.lines import Event, LineSubjects
from sdpa_helpers.classroom.room.room import Room
from sdpa_helpers.classroom.room.store import Store
from sdpa_helpers.classroom.sentences.bring_in import with_sentences
from sdpa_helpers.classroom.sentences.store import (
    BadNames,
    Sentence,
    by_answer,
    for_learners,
    read_sentences,
    write_sentences,
)
from sdpa_helpers.classroom.sentences.wordings import Registered, digest_of, read_plans, reads_second
from sdpa_helpers.classroom.study.wordings import compare, difference, register, tried_in
from sdpa_helpers.classroom.teaching.numbers import share
from sdpa_helpers.course.attempts import Attempt
from sdpa_helpers.grading.refusal import Refusal
from sdpa_helpers.grading.result import GradedExercise
from tests.commands import sdpa
from tests.results import case, result

KEY = "0123456789ab"
ONE = Sentence("softmax", KEY, "The first wording.", second="The second wording.")
PLAN = Registered("Which?", "o", 60, "2026-05-04T10:00:00+00:00", "seed", digest_of(ONE.says, ONE.second))
SINCE = PLAN.since


@pytest.fixture
def names(tmp_path):
    write_sentences(tmp_path / "names.toml", by_answer([ONE]))
    return tmp_path / "names.toml"


def told(names, who):
    return read_sentences(names)["softmax", KEY].told_to(who)


# ---- who reads which --------------------------------------------------------------------------------------


def test_the_second_wording_survives_the_file_and_nobody_reads_it_unregistered(names):
    assert read_sentences(names)["softmax", KEY] == ONE
    assert {told(names, f"s{n}") for n in range(50)} == {ONE.says}


def test_once_registered_half_of_them_read_the_second_and_always_the_same_one(names):
    register(names, ONE, "Which?", 60, "seed")
    first = {f"s{n}": told(names, f"s{n}") for n in range(400)}
    assert 160 < sum(says == ONE.second for says in first.values()) < 240
    assert first == {who: told(names, who) for who in first}
    assert any(
        reads_second("other", ("softmax", KEY), who) != (says == ONE.second) for who, says in first.items()
    )


def test_a_file_to_hand_out_tells_neither_while_they_are_compared(names):
    assert ONE.says in for_learners(read_sentences(names))
    register(names, ONE, "Which?", 60, "seed")
    assert ONE.says not in for_learners(read_sentences(names))
    assert ONE.second not in for_learners(read_sentences(names))


def test_a_wording_that_was_changed_is_no_longer_drawn(names):
    register(names, ONE, "Which?", 60, "seed")
    write_sentences(names, by_answer([replace(ONE, second="Another.")]))
    assert {told(names, f"s{n}") for n in range(50)} == {ONE.says}


def test_feedback_tells_each_learner_their_own_wording(names):
    register(names, ONE, "Which?", 60, "seed")
    sentences = read_sentences(names)
    graded = GradedExercise("softmax", "Softmax", 15.0, (case(0.0, 15.0),), unknown=KEY)
    for who in map("s{}".format, range(8)):
        (mistake,) = (
            with_sentences(result(who, [graded], "03_softmax"), sentences).exercise("softmax").mistakes
        )
        assert mistake.says == told(names, who)


@pytest.fixture
def room(names):
    """Open, with twelve who gave the answer."""
    store = Store(names.with_name("room.sqlite"))
    made = Room(store, LineSubjects({"softmax": 15.0}, {}, lambda *_: False), {}, names=names)
    for number in range(12):
        gives(made, made.join("here")["who"], time=1.0 + number)
    yield made
    store.close()


def gives(room, who, **more):
    line = {"exercise": "softmax", "points": 0.0, "max": 15.0, "mistakes": [], "tries": 1, "answer": KEY}
    return room.take({"who": who, "line": {**line, **more}})


def on_board(room):
    return [len(row.mistakes) for row in room.board().rows]


def test_an_open_room_tells_each_their_own_and_the_board_neither(names, room):
    learners = room.store.learners
    assert {room.here(who).told[0].says for who in learners} == {ONE.says}
    assert on_board(room) == [1]
    register(names, ONE, "Which?", 60, "seed")  # while it is open
    again = gives(room, next(iter(learners)), time=50.0, tries=2)
    assert ONE.says not in again["names"]  # before anybody's own page asks
    says = {name: room.here(who).told[0].says for who, name in learners.items()}
    assert says == {name: told(names, name) for name in says}
    assert set(says.values()) == {ONE.says, ONE.second}
    assert on_board(room) == [0]
    room.ask(room.store.key, {"exercise": "softmax", "answer": KEY, "says": ONE.says, "points": -1})
    assert (
        read_sentences(names)["softmax", KEY].second == ONE.second
    )  # points alone were changed on the phone


def test_the_board_shows_neither_also_before_anybody_sends_a_line(names, room):
    assert on_board(room) == [1]
    register(names, ONE, "Which?", 60, "seed")
    assert on_board(room) == [0]


def test_a_second_wording_that_is_none_is_told_with_its_line(names):
    names.write_text(f"version = 1\n\n[softmax.{KEY}]\nsays = 'a'\nsecond = '{'x' * 601}'\n")
    with pytest.raises(BadNames, match="line 5: a sentence is expected"):
        read_sentences(names)


# ---- the plan ---------------------------------------------------------------------------------------------


def test_a_plan_is_kept_as_it_was_written(names):
    plan = register(names, ONE, "Does  it\nhelp?", 60, "seed")
    assert read_plans(names.with_name("registered.toml")) == {("softmax", KEY): plan}
    assert plan.question == "Does it help?"
    with pytest.raises(Refusal, match="registered already"):
        register(names, ONE, "Does it?", 80, "another")


def test_there_has_to_be_something_to_compare(names):
    with pytest.raises(Refusal, match="has one wording"):
        register(names, replace(ONE, second=""), "Which?", 60, "seed")
    with pytest.raises(Refusal, match="plan with 40"):
        register(names, ONE, "Which?", 39, "seed")
    names.with_name("registered.toml").write_text("[softmax.x]\nlearners = 3\n")
    with pytest.raises(Refusal, match="a plan has question, outcome"):
        read_sentences(names)


# ---- simulated classes ------------------------------------------------------------------------------------


def a_room(seed, learners, first=0.6, second=0.6):
    """Everybody gives the answer, reads their wording, and does the same again with these chances."""
    rng = np.random.default_rng(seed)
    for number in range(learners):
        who = f"learner {seed} {number}"
        again = rng.random() < (second if reads_second(PLAN.seed, ("softmax", KEY), who) else first)
        for turn, answer in enumerate((KEY, KEY if again else None)):
            yield a_check(who, SINCE + number + turn * 0.5, answer)


def a_check(who, when, answer):
    attempt = Attempt(when, "softmax", 0.0 if answer else 15.0, 15.0, answer=answer)
    return Event(when, who, "check", "softmax", attempt=attempt)


def compared(events, learners=60):
    return compare(list(tried_in(events, ONE, SINCE)), ONE, replace(PLAN, learners=learners))


def test_a_planted_difference_is_found_and_where_none_is_nothing_is_claimed():
    found = [compared(a_room(seed, 160, first=0.7, second=0.35), 160) for seed in range(20)]
    assert sum(one.shown and one.difference.value < 0 for one in found) >= 19
    claimed = [seed for seed in range(200) if compared(a_room(seed, 160), 160).shown]
    assert len(claimed) <= 14, claimed  # 5 % are what an interval of 95 % promises


def test_nothing_is_compared_too_early_and_who_comes_later_does_not_count():
    early = compared(a_room(0, 59))
    assert (early.tried, early.first, early.shown) == (59, None, False)
    whole, later = compared(a_room(0, 60)), compared(a_room(0, 90))
    assert whole.difference == later.difference
    assert later.tried == 90


def test_a_try_counts_once_and_only_if_it_was_told_after_the_plan():
    before = [a_check("old", SINCE - 5, KEY), a_check("old", SINCE + 5, KEY), a_check("old", SINCE + 9, None)]
    once = [a_check("new", SINCE + 1, KEY), a_check("new", SINCE + 2, KEY), a_check("new", SINCE + 3, None)]
    left = [a_check("left", SINCE + 1, KEY)]
    (found,) = tried_in([*before, *once, *left], ONE, SINCE)
    assert (found.who, found.again) == ("new", True)


def test_newcombes_interval_by_hand():
    """The example of his paper of 1998: 56 of 70 and 48 of 80."""
    found = difference(share(56, 70), share(48, 80))
    assert found == pytest.approx((0.2, 0.0524, 0.3339), abs=1e-4)


# ---- the commands -----------------------------------------------------------------------------------------


def plan_for(room):
    asked = "--question", "Which?", "--learners", 60, "--seed", "seed"
    return sdpa("study", "register", "softmax", KEY[:4], room, *asked)


def test_the_commands_refuse_without_a_plan_and_after_a_change(names):
    room = names.with_name("room.sqlite")
    Store(room).close()
    asked = "study", "wordings", "softmax", KEY[:4], room
    said = sdpa(*asked)
    assert said.returncode == 2
    assert "were not registered, so nothing is compared" in " ".join(said.stderr.split())
    assert plan_for(room).returncode == 0
    assert "Too early: 0 of 60 have tried again" in sdpa(*asked).stdout
    write_sentences(names, by_answer([replace(ONE, says="Changed.")]))
    said = sdpa(*asked)
    assert said.returncode == 2
    assert "not those that were registered" in " ".join(said.stderr.split())


@pytest.mark.parametrize(("second", "says"), [(0.2, "The second helps more."), (0.8, "Not shown")])
def test_the_command_says_what_a_room_shows(names, second, says):
    room = names.with_name("room.sqlite")
    assert plan_for(room).returncode == 0
    store = Store(room)
    shift = read_plans(names.with_name("registered.toml"))["softmax", KEY].since + 10 - SINCE
    for event in a_room(1, 80, first=0.8, second=second):
        store.keep(replace(event, time=event.time + shift, attempt=replace(event.attempt, time=event.time)))
    store.close()
    said = sdpa("study", "wordings", "softmax", KEY, room)
    assert said.returncode == 0, said.stderr
    assert says in " ".join(said.stdout.split())
