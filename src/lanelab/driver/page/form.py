"""What a form of a page sends: text by name. Files are not taken, and a form that is long or slow is refused."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import parse_qs

from starlette.requests import Request

from lanelab.driver.page.language import number_words, say, text
from lanelab.driver.page.refusal import Refusal

KIND = "application/x-www-form-urlencoded"
LARGEST = 64 * 1024  # bytes
MOST_FIELDS = 200
WITHIN_S = 10.0
TITLE = text("This form was not taken")


@dataclass(frozen=True, slots=True)
class Form:
    """The fields of a form. A box that is not ticked is no field."""

    fields: Mapping[str, Sequence[str]]

    def one(self, name: str) -> str:
        """Return the text of a field that has to be there once."""
        values = self.fields.get(name, ())
        if len(values) != 1:
            raise Refusal(HTTPStatus.BAD_REQUEST, say(TITLE), say('It has to have the field "{name}" once.', name=name))
        return values[0]

    def some(self, name: str) -> Sequence[str]:
        """Return what a field has that may be there any number of times."""
        return self.fields.get(name, ())


async def read_form(request: Request) -> Form:
    """Return the form that was sent."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != KIND:
        raise Refusal(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, say(TITLE), say("It has to be sent as {kind}.", kind=KIND))
    try:
        text = (await asyncio.wait_for(_body(request), WITHIN_S)).decode("ascii")
        return Form(parse_qs(text, keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except TimeoutError:
        raise Refusal(HTTPStatus.REQUEST_TIMEOUT, say(TITLE), say("It did not arrive in time.")) from None
    except ValueError:  # also what is no UTF-8
        raise Refusal(HTTPStatus.BAD_REQUEST, say(TITLE), say("It cannot be read.")) from None


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            raise Refusal(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                say(TITLE),
                say("It has more than {n} bytes.", n=number_words(f"{LARGEST:,}")),
            )
    return bytes(body)
