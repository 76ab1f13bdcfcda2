"""`python -m editions.archive [PIP FLAGS]`: the archive for a room without internet, into build/archive."""

import sys

from editions.archive.build import NoWheels, build_archive, fetch_wheels
from sdpa_helpers.course.places import course_root


def main(flags: list[str]) -> int:
    """Build it, and say what is in it; 2 when pip could not get the wheels."""
    built = course_root() / "build"
    site = built / "site" if (built / "site" / "index.html").is_file() else None
    try:
        archive = build_archive(built / "archive", fetch_wheels(flags), site=site)
    except NoWheels as error:
        print(error, file=sys.stderr)
        return 2
    print(f"{archive}: {archive.stat().st_size / 1e6:.0f} MB")
    if not site:
        print("without the site for phones and locked laptops: `make site` first puts it in")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
