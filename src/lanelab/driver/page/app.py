"""All of it at addresses, group by group, behind the guard."""

from http import HTTPStatus
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match
from starlette.types import ASGIApp

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.page import bench_pages, control_pages, entrance, lab_pages, race_pages, race_view, run_pages
from lanelab.driver.page.access import READING
from lanelab.driver.page.errors import NOT_SHOWN, error_page
from lanelab.driver.page.guard import Guard
from lanelab.driver.page.language import say
from lanelab.driver.page.pacer import Pacer
from lanelab.driver.page.pages import Pages, may_run
from lanelab.driver.page.preference import Languages
from lanelab.driver.page.refusal import Absent, Refusal, refusal_page

GROUPS = (
    entrance.routes,
    run_pages.routes,
    control_pages.routes,
    race_view.routes,
    race_pages.routes,
    bench_pages.routes,
    lab_pages.routes,
)


async def _refused(request: Request, error: Exception) -> Response:
    """Say on a page what is not there, what is not done, and what cannot be read."""
    if isinstance(error, LanelabError):
        error = error_page(error, may_run=may_run(request), title=NOT_SHOWN)
    elif isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        error = Refusal(error.status_code, say("Nothing was done"), say("Nothing is changed by opening an address."))
    elif isinstance(error, HTTPException) and (folder := _folder_meant(request)):
        return RedirectResponse(folder, HTTPStatus.SEE_OTHER)
    return refusal_page(request, error if isinstance(error, Refusal) else Absent())


def _folder_meant(request: Request) -> str:
    """Return the address of the page that the request is for, but for the / at its end; nothing where there is none. It
    is relative: before it is a secret name, which no route knows."""
    path = str(request.scope["path"])
    meant = {**request.scope, "path": f"{path}/"}
    if request.method not in READING or not any(route.matches(meant)[0] is Match.FULL for route in request.app.routes):
        return ""
    query = f"?{request.url.query}" if request.url.query else ""
    return f"{quote(path.rpartition('/')[2])}/{query}"


REFUSALS = dict.fromkeys((HTTPException, Refusal, LanelabError), _refused)


def application(pages: Pages) -> ASGIApp:
    """Return the pages, behind their guard."""
    routes = [route for group in GROUPS for route in group(pages)]
    rooms = Starlette(routes=routes, exception_handlers=REFUSALS)
    rooms.router.redirect_slashes = False  # it would lead out of the place
    drawing = Pacer(rooms, pages.moments)
    return Languages(Guard(drawing, pages.access))
