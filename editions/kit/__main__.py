"""`python -m editions.kit` writes the pages of docs/instructors. Drawings and the checklist there are made by hand."""

from editions.kit.pages import pages
from sdpa_helpers.lessons.places import course_root


def main() -> None:
    """Write every page that is computed."""
    folder = course_root() / "docs" / "instructors"
    for name, text in pages().items():
        (folder / name).write_bytes(text.encode())
    print(f"written: {len(pages())} pages in {folder}")


if __name__ == "__main__":
    main()
