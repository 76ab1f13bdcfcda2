"""What the door "Words in five minutes" uses: questions, and lines to write."""

from sdpa_helpers.course.offered import offer_lesson

__getattr__, __all__ = offer_lesson(__name__, {"lessons.words_in_five_minutes.steps": ("line", "plot_steps")})
