"""`python -m editions.kit` writes the pages of docs/instructors. The checklist there is written by hand."""

from editions.kit.pages import pages
from sdpa_helpers.course.generated import keep
from sdpa_helpers.course.places import course_root


def main() -> None:
    """Write every page that is computed."""
    for name, text in pages().items():
        keep(course_root(), f"docs/instructors/{name}", text)


if __name__ == "__main__":
    main()
