"""The five articles whose claims the ledger checks: what kind each is, and which claims stand in which of its parts."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part of an article, by its heading, and the claims that stand in it."""

    heading: str
    first: int
    """The number of its first claim."""
    last: int


@dataclass(frozen=True)
class Article:
    """One of the five."""

    letter: str
    what: str
    """What kind of text it is."""
    parts: tuple[Part, ...]


ARTICLES: tuple[Article, ...] = (
    Article(
        "A",
        "a short explainer with a visualization",
        (
            Part("the opening sentence", 1, 2),
            Part("The core formula", 3, 4),
            Part("The dot product as similarity", 5, 9),
            Part("Why scale by √dₖ", 10, 17),
            Part("The computation, step by step", 18, 25),
            Part("Further reading", 26, 26),
        ),
    ),
    Article(
        "B",
        "a blog post on why √d_k matters",
        (
            Part("the summary at the top", 27, 28),
            Part("Why Dot Products Grow in High Dimensions", 29, 33),
            Part("What Happens to Softmax with Large Inputs", 34, 36),
            Part("The Gradient Problem", 37, 39),
            Part("The Fix: Divide by √d_k", 40, 42),
            Part("Visualising the Effect", 43, 45),
            Part("What About Other Scaling Choices?", 46, 49),
            Part("Summary", 50, 52),
        ),
    ),
    Article(
        "C",
        "a chapter of an online course",
        (
            Part("Introduction", 53, 53),
            Part("What Does This Formula Actually Do?", 54, 55),
            Part("Why Is V Outside the Softmax?", 56, 56),
            Part("What Context Does the Attention Matrix Encode?", 57, 60),
            Part("The Google Search Analogy", 61, 63),
            Part("The Complete Formula", 64, 64),
            Part("Dimensions", 65, 67),
            Part("Why Dot Product?", 68, 70),
            Part("Computing QKᵀ", 71, 73),
            Part("The Problem Without Scaling", 74, 75),
            Part("Why Extreme Values Are Bad", 76, 80),
            Part("The Solution: Scale by √d_k", 81, 81),
            Part("Mathematical Derivation", 82, 84),
            Part("Empirical Demonstration", 85, 85),
            Part("Purpose of Softmax", 86, 88),
            Part("Softmax Temperature", 89, 90),
            Part("The Final Computation", 91, 91),
            Part("Example", 92, 92),
            Part("Pseudocode", 93, 93),
            Part("The Algorithm in Equations", 94, 94),
            Part("Computational Complexity", 95, 95),
            Part("The quadratic bottleneck", 96, 97),
            Part("Why Gradients Flow Well", 98, 100),
            Part("Gradient of Softmax", 101, 102),
            Part("Backpropagation Through Attention", 103, 107),
            Part("Standard Notation", 108, 108),
            Part("Summary", 109, 110),
            Part("Exercises", 111, 114),
        ),
    ),
    Article(
        "D",
        "a reference card",
        (
            Part("Introduction", 115, 115),
            Part("The Attention Formula", 116, 117),
            Part("Why Scale?", 118, 122),
            Part("Matrix Dimensions", 123, 123),
            Part("Implementation Details", 124, 124),
            Part("Computational Cost", 125, 125),
            Part("Masking (Optional)", 126, 127),
            Part("Numerical Stability", 128, 131),
            Part("Advantages of Scaled Dot-Product", 132, 134),
            Part("Comparison with Additive Attention", 135, 138),
        ),
    ),
    Article(
        "E",
        "an interview tutorial with code",
        (
            Part("The Full Formula", 139, 139),
            Part("Step 1: Dot-Product Scores", 140, 140),
            Part("Step 2: Scale by √dₖ", 141, 143),
            Part("Step 3: Masking (optional)", 144, 147),
            Part("Step 4: Softmax → Attention Weights", 148, 148),
            Part("Step 5: Weighted Sum of Values", 149, 149),
            Part("Complete Code", 150, 153),
            Part("Complexity", 154, 161),
            Part("Interview Answer", 162, 163),
        ),
    ),
)


def article_of(number: int) -> Article:
    """The article that makes a claim; LookupError when none does."""
    for article in ARTICLES:
        if article.parts[0].first <= number <= article.parts[-1].last:
            return article
    raise LookupError(f"no article makes claim {number}: they are 1 to {ARTICLES[-1].parts[-1].last}")


def part_of(number: int) -> Part:
    """The part of its article in which a claim stands."""
    return next(part for part in article_of(number).parts if part.first <= number <= part.last)
