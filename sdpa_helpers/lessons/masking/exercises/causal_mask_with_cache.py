"""Lesson 05, exercise `causal_mask_with_cache`: decoding with a cache."""

import numpy as np

from sdpa_helpers.checking.exercise import Case, Example, Exercise, Invariant, WrongAnswer
from sdpa_helpers.lessons.masking.exercises.shared import (
    ADDITIVE,
    BLIND,
    FUTURE,
    NUMBERS,
    additive,
    masks,
    no_future,
    rules,
    some_size,
)

PROMPT = """`causal_mask_with_cache(n_new, n_cached)`: a model has read `n_cached` tokens and kept their keys. Now come `n_new` tokens more. Each sees the whole cache, the new tokens before it, and itself.

- `n_new`: the number of new tokens, hence of queries; at least 1.
- `n_cached`: the number of cached tokens. It may be 0.
- Returns shape `(n_new, n_cached + n_new)`, dtype bool, True = may attend. The cached keys come first.

Example: {example:1}.
"""


def causal_mask_with_cache(n_new, n_cached):
    """Bottom-right causal mask: n_new queries, n_cached + n_new keys -> bool."""
    return np.arange(n_cached + n_new) <= n_cached + np.arange(n_new)[:, None]


EXERCISE = Exercise(
    name="causal_mask_with_cache",
    lesson="05_masking",
    title="Decoding with a cache",
    prompt=PROMPT,
    examples=(Example((2, 3), form="call"),),
    difficulty=2,
    minutes=10,
    reference=causal_mask_with_cache,
    cases=(
        Case("three new tokens after some", lambda rng: (3, some_size(rng, 4, 60))),
        Case(
            "one new token",
            lambda rng: (1, some_size(rng, 3, 60)),
            says="The newest token sees everything: the whole cache, and itself.",
        ),
        Case(
            "no cache yet",
            lambda rng: (some_size(rng, 4, 40), 0),
            says="Without a cache this is the ordinary causal mask.",
        ),
        Case("more new than cached", lambda rng: (some_size(rng, 8, 30), some_size(rng, 2, 7))),
    ),
    wrong=(
        WrongAnswer(
            "top-left",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, dtype=bool),
            "The diagonal starts at the top left: with one new token this shows key 0 alone, the oldest of all. "
            "Query i is token n_cached + i.",
            ("What does your mask show when n_new is 1?",),
        ),
        WrongAnswer(
            "new-keys-only",
            lambda n_new, n_cached: np.tri(n_new, dtype=bool),
            "The mask covers the new keys alone. The cached keys are columns too, in front.",
        ),
        WrongAnswer(
            "cache-hidden",
            lambda n_new, n_cached: np.hstack([np.zeros((n_new, n_cached), bool), np.tri(n_new, dtype=bool)]),
            "The cached keys are hidden. They are the past: everybody may see them.",
        ),
        WrongAnswer(
            "new-tokens-see-each-other",
            lambda n_new, n_cached: np.ones((n_new, n_cached + n_new), dtype=bool),
            "Everything is visible. Among several new tokens, the earlier ones must not see the later ones.",
        ),
        WrongAnswer(
            "cannot-see-itself",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached - 1, dtype=bool),
            "Each token sees what came before it but not itself: one column too few.",
        ),
        WrongAnswer(
            "sees-one-future-key",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached + 1, dtype=bool),
            "Each token also sees the one after it: one column too many.",
        ),
        WrongAnswer(
            "cache-only",
            lambda n_new, n_cached: np.hstack(
                [np.ones((n_new, n_cached), bool), np.zeros((n_new, n_new), bool)]
            ),
            "Only the cache is visible. A new token sees itself, and the new ones before it.",
        ),
        WrongAnswer(
            "cache-and-itself-only",
            lambda n_new, n_cached: np.hstack([np.ones((n_new, n_cached), bool), np.eye(n_new, dtype=bool)]),
            "Each new token sees the cache and itself, but not the new tokens before it.",
        ),
        WrongAnswer(
            "no-column-for-the-new",
            lambda n_new, n_cached: np.ones((n_new, n_cached), dtype=bool),
            "There are n_cached + n_new keys: the new tokens have keys too.",
        ),
        WrongAnswer(
            "cache-behind",
            lambda n_new, n_cached: np.hstack([np.tri(n_new, dtype=bool), np.ones((n_new, n_cached), bool)]),
            "The cached keys come after the new ones. They are older, so they come first.",
        ),
        WrongAnswer(
            "rows-for-the-cache-too",
            lambda n_new, n_cached: np.tri(n_cached + n_new, dtype=bool),
            "This has a row for the cached tokens too. Only the new tokens ask: n_new rows.",
        ),
        WrongAnswer(
            "transposed",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached, dtype=bool).T,
            "The mask is transposed: rows are queries, columns are keys.",
        ),
        WrongAnswer(
            "inverted",
            lambda n_new, n_cached: ~np.tri(n_new, n_cached + n_new, k=n_cached, dtype=bool),
            "The mask is the wrong way round: True means that the query MAY attend to the key.",
        ),
        WrongAnswer(
            "numbers-not-booleans",
            lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached, dtype=int),
            NUMBERS,
        ),
        WrongAnswer(
            "additive",
            lambda n_new, n_cached: additive(causal_mask_with_cache(n_new, n_cached)),
            ADDITIVE,
        ),
        WrongAnswer(
            "last-cached-rows-kept",
            lambda n_new, n_cached: np.tri(n_cached + n_new, dtype=bool)[-n_cached:],
            "You cut off the wrong number of rows: `[-n_cached:]` keeps n_cached of them. The new tokens are the last "
            "n_new rows, `[n_cached:]`.",
        ),
        WrongAnswer(
            "arguments-swapped",
            lambda n_new, n_cached: causal_mask_with_cache(n_cached, n_new),
            "n_new and n_cached have changed places: rows are the NEW tokens, and n_new comes first.",
        ),
    ),
    also_right=(
        lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, k=n_cached, dtype=bool),
        lambda n_new, n_cached: np.tri(n_cached + n_new, dtype=bool)[n_cached:],
        lambda n_new, n_cached: np.hstack([np.ones((n_new, n_cached), bool), np.tri(n_new, dtype=bool)]),
        lambda n_new, n_cached: ~np.triu(np.ones((n_new, n_cached + n_new), dtype=bool), k=n_cached + 1),
        lambda n_new, n_cached: np.array(
            [[j <= n_cached + i for j in range(n_cached + n_new)] for i in range(n_new)]
        ),
    ),
    hints=(
        "Number the tokens of the whole text. Which number has new query 0, and which keys come before it?",
        "Query i is token n_cached + i. Key j is token j. Compare the two numbers as in the causal mask.",
        "It is the causal mask of all n_cached + n_new tokens, of which you keep the last n_new rows.",
    ),
    invariants=(
        Invariant("sees-the-future", FUTURE, no_future(lambda inputs: inputs[1])),
        BLIND,
    ),
    ready=("numpy.tri", "numpy.tril", "numpy.triu"),
    mistakes=masks(
        rules(
            causal_mask_with_cache,
            top_left=lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, dtype=bool),
            new_keys_only=lambda n_new, n_cached: np.tri(n_new, dtype=bool),
            cannot_see_itself=lambda n_new, n_cached: np.tri(
                n_new, n_cached + n_new, n_cached - 1, dtype=bool
            ),
            sees_one_future_key=lambda n_new, n_cached: np.tri(
                n_new, n_cached + n_new, n_cached + 1, dtype=bool
            ),
            rows_for_the_cache_too=lambda n_new, n_cached: np.tri(n_cached + n_new, dtype=bool),
            transposed=lambda n_new, n_cached: np.tri(n_new, n_cached + n_new, n_cached, dtype=bool).T,
            new_tokens_see_each_other=lambda n_new, n_cached: np.ones((n_new, n_cached + n_new), dtype=bool),
        )
    ),
)
