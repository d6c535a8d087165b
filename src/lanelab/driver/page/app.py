"""All of it at addresses, group by group, behind the guard."""

from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from lanelab.driver.base.errors import LanelabError
from lanelab.driver.page import bench_pages, control_pages, entrance, lab_pages, race_pages, race_view, run_pages
from lanelab.driver.page.guard import Guard
from lanelab.driver.page.language import say
from lanelab.driver.page.pacer import Pacer
from lanelab.driver.page.pages import Pages
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
        error = Refusal(HTTPStatus.INTERNAL_SERVER_ERROR, say("This cannot be shown"), str(error))
    elif isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        error = Refusal(error.status_code, say("Nothing was done"), say("Nothing is changed by opening an address."))
    return refusal_page(request, error if isinstance(error, Refusal) else Absent())


REFUSALS = dict.fromkeys((HTTPException, Refusal, LanelabError), _refused)


def application(pages: Pages) -> ASGIApp:
    """Return the pages, behind their guard."""
    routes = [route for group in GROUPS for route in group(pages)]
    drawing = Pacer(Starlette(routes=routes, exception_handlers=REFUSALS), pages.moments)
    return Languages(Guard(drawing, pages.access))
