"""Lesson 10: claims of the articles that it decides."""

from sdpa_helpers.lessons.claim import Claim

CLAIMS: tuple[Claim, ...] = ()
