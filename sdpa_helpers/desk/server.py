"""A Jupyter server extension: what the side bar shows, and stubs for the button that resets an exercise.

`GET /sdpa/course` answers with a `CourseState`. `POST /sdpa/reset {"exercise": "softmax", "answer": "…"}` puts the
answer aside and sends the stub back. It never writes a notebook: the front end puts the stub into the document that is
open, so what is unsaved in other cells stays, and JupyterLab has no reason to say that the file changed on disk.
`answer` is the cell as it stands there; without it the saved file is read.

It is enabled in the course's .jupyter/, which `sdpa lab` names to Jupyter. Where the server's folder is no course the
answer is 404, and the front end keeps quiet.
"""

import asyncio
import dataclasses
import json
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler, FileFindHandler
from jupyter_server.utils import url_path_join
from tornado import web

from sdpa_helpers.desk.putting_aside import put_aside
from sdpa_helpers.desk.where import DeskProblem, is_course


def _jupyter_server_extension_points() -> list[dict[str, str]]:
    return [{"module": "sdpa_helpers.desk.server"}]


def _load_jupyter_server_extension(server: Any) -> None:
    base = server.web_app.settings["base_url"]
    given = {"root": Path(server.root_dir).resolve()}
    addresses = {"course": CourseHandler, "reset": ResetHandler}
    routes = [(url_path_join(base, "sdpa", name), handler, given) for name, handler in addresses.items()]
    server.web_app.add_handlers(".*$", routes)
    if is_course(given["root"]):  # so that the front end need not ask where there is none
        server.web_app.settings.setdefault("page_config_data", {})["sdpaCourse"] = True
    FileFindHandler._static_paths = _Forgetful()


LONGEST_ANSWER = 1_000_000
"""Characters of an answer that is put aside."""


class _Forgetful(dict[str, str]):
    """Keeps nothing. Jupyter Server remembers by its name alone where a static file lies: once JupyterLab has loaded
    a font of formulas, Notebook 7, whose font of the same name lies elsewhere, is refused its own (403)."""

    def __setitem__(self, name: str, place: str) -> None:
        pass


class _CourseHandler(APIHandler):
    """What both have: the course's root, and answers in JSON."""

    def initialize(self, root: Path) -> None:  # type: ignore[override]
        """Called by tornado."""
        self.root = root

    def of_course(self) -> Path:
        """The course's root; 404 where there is none."""
        if not is_course(self.root):
            raise web.HTTPError(404, "this folder is no course", reason="no course")
        return self.root

    async def say(self, data: object) -> None:
        """Answer with a dataclass as JSON."""
        self.set_header("Cache-Control", "no-store")
        await self.finish(json.dumps(dataclasses.asdict(data)))  # type: ignore[call-overload]


class CourseHandler(_CourseHandler):
    """GET: how far the learner is."""

    @web.authenticated
    async def get(self) -> None:
        """Answer with the course's state. The first time it imports the lessons, so it does that in a thread."""
        from sdpa_helpers.desk.course import course_state

        await self.say(await asyncio.to_thread(course_state, self.of_course()))


class ResetHandler(_CourseHandler):
    """POST: put an answer aside."""

    @web.authenticated
    async def post(self) -> None:
        """Put the answer aside, and send the stub."""
        asked = self.get_json_body()
        asked = asked if isinstance(asked, dict) else {}
        name, answer = asked.get("exercise"), asked.get("answer")
        if not isinstance(name, str) or not isinstance(answer, str | None):
            raise web.HTTPError(400, 'expected {"exercise": NAME, "answer": TEXT}')
        if len(answer or "") > LONGEST_ANSWER:
            raise web.HTTPError(413, f"an answer of more than {LONGEST_ANSWER:,} characters is not kept")
        root = self.of_course()
        try:
            await self.say(await asyncio.to_thread(put_aside, root, name, answer))
        except DeskProblem as problem:
            self.set_status(404)
            await self.finish(json.dumps({"message": str(problem)}))
