"""Open a room and say where it is."""

from collections.abc import Callable
from datetime import date
from pathlib import Path

from sdpa_helpers.classroom.room.questions import known, questions
from sdpa_helpers.classroom.room.room import Room
from sdpa_helpers.classroom.room.server import RoomServer, own_address
from sdpa_helpers.classroom.room.store import NotARoom, Store
from sdpa_helpers.course.told import FILE
from sdpa_helpers.grading.refusal import Refusal


def open_room(
    where: tuple[str, int], site: Path | None, file: Path | None, say: Callable[[str], None]
) -> None:
    """Serve until Ctrl-C; Refusal where the port or the file cannot be had."""
    file = file or Path(f"room-{date.today():%Y-%m-%d}.sqlite")
    asked = questions()
    try:
        store = Store(file)
        server = RoomServer(
            where, Room(store, known(asked), asked, site is not None, file.with_name(FILE)), site
        )
    except NotARoom as error:
        raise Refusal(str(error)) from None
    except OSError as error:
        raise Refusal(f"port {where[1]} cannot be had ({error.strerror}); take another with --port") from None
    host = own_address() if where[0] == "0.0.0.0" else where[0]
    for line in told(f"{host}:{server.server_port}", store.key, file):
        say(line)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        say(f"Closed. All that was sent is in {file}; the same command opens the room again.")
    finally:
        server.server_close()
        store.close()


def told(address: str, key: str, file: Path) -> list[str]:
    """What the instructor reads when it opens."""
    return [
        f"The board, for the projector:  http://{address}/board",
        f"Your own page, on a phone:     http://{address}/phone#{key}",
        f"Learners, on their machine:    sdpa lab --room {address}",
        f"Learners, in a browser:        http://{address}/",
        f"Kept in {file}. Ctrl-C closes the room, and the same command opens it again, with all that it knows.",
    ]
