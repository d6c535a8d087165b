"""How a browser comes in, and what it needs before: style and script."""

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from lanelab.driver.page.documents import message, static_files
from lanelab.driver.page.guard import role_of
from lanelab.driver.page.language import say, text
from lanelab.driver.page.pages import Pages, reading
from lanelab.driver.page.refusal import Absent, Refusal

USED = text("This link has been used, or the server was started again. The terminal where it runs has a new one.")


def routes(pages: Pages) -> list[Route]:
    """Return what needs no cookie."""

    async def enter(request: Request) -> Response:
        """Let in who has a link. Our page then asks for the next one: where a link in somebody's mail is followed, the
        cookie does not come along."""
        access = pages.access
        token = request.query_params.get("token", "") if request.method == "GET" else ""
        session = access.enter(role_of(request), token)
        if session is None:
            raise Refusal(403, say("This link holds no more"), say(USED))
        welcome = message(say("Welcome"), say("The runs are on the next page."))
        response = HTMLResponse(welcome, headers={"Refresh": "0; url=./"})
        secure = access.scheme == "https"
        # No path: it is for the folder of this address, whatever leads here.
        response.set_cookie(access.cookie, session, path=None, httponly=True, samesite="strict", secure=secure)
        return response

    return [reading("/enter", enter), reading("/static/{name}", static)]


async def static(request: Request) -> Response:
    """Send a file that pages need."""
    files = static_files()
    name = request.path_params["name"]
    if name not in files:
        raise Absent
    kind, text = files[name]
    return Response(text, media_type=kind)
