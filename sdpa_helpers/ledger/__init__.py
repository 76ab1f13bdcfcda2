"""The ledger: every claim of five articles about attention, computed, with its verdict.

One module per lesson holds the CLAIMS that the lesson runs. `make ledger` computes them all and writes
docs/ledger.json (the numbers) and docs/ledger.md (the page).
"""

import importlib

from sdpa_helpers.ledger.claim import Claim

LESSONS = ("dot_product", "variance_proof", "softmax", "gradients", "masking", "complexity")


def all_claims() -> list[Claim]:
    """Every claim in the order of its number."""
    claims = [c for name in LESSONS for c in importlib.import_module(f"sdpa_helpers.ledger.{name}").CLAIMS]
    return sorted(claims, key=lambda claim: claim.number)
