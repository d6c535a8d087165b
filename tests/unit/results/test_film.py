"""How a page appeared: pictures of it in the report."""

import base64
import gzip
import io
import json
from pathlib import Path

import pytest
from PIL import Image

from lanelab.analysis.results.film import FILMSTRIP, SCREENSHOT, WIDTH, film_of
from lanelab.analysis.results.report.film import films, progress_strip
from lanelab.driver.arm.arm import Arm
from lanelab.driver.base.errors import StoreError
from lanelab.driver.record.record import TrialRecord
from tests.kit import records

CLOCK = {"asked": 1_000_000, "navigation": 1_010_000, "first_request": 1_010_000}


def record() -> TrialRecord:
    data = records.record(Arm.parse("http", {}))
    data["evidence"]["browser"]["clock"] = CLOCK
    data["measures"] = {"speed_index_ms": 321.0, "visually_complete_ms": 500.0, "plt_ms": 700.0}
    return TrialRecord.from_json(data)


def picture(colour: str, size: tuple[int, int] = (500, 400), kind: str = "JPEG") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, kind)
    return out.getvalue()


def strip(folder: Path) -> None:
    frames = [(0.0, 0.0, "white"), (300.0, 0.6, "grey"), (500.0, 1.0, "black")]
    told = [
        {"at_ms": at, "complete": complete, "jpeg": base64.b64encode(picture(colour)).decode()}
        for at, complete, colour in frames
    ]
    (folder / FILMSTRIP).write_bytes(gzip.compress(json.dumps({"frames": told}).encode()))


def test_a_filmstrip_has_the_picture_of_each_moment(tmp_path: Path) -> None:
    strip(tmp_path)
    film = film_of(tmp_path, record())
    assert film is not None
    assert [frame.at for frame in film.frames] == [10, 310, 510], "from the moment at which the page was asked for"
    assert [film.at(moment).complete for moment in (0, 309, 310, 9000)] == [0, 0, 0.6, 1]
    assert {(frame.width, frame.height) for frame in film.frames} == {(WIDTH, WIDTH * 4 // 5)}
    drawn = films([("one", film), ("other", film)], 700)
    assert drawn is not None
    assert "Speed Index 321 ms, visually complete 500 ms" in drawn
    assert drawn.count("<image") == 6, "each picture is there once for each cell"
    progress = progress_strip(film, 700)
    assert progress is not None
    assert "60% painted from 310 ms on" in progress


def test_a_screenshot_is_shown_small(tmp_path: Path) -> None:
    (tmp_path / SCREENSHOT).write_bytes(picture("red", (1200, 9000), "PNG"))
    film = film_of(tmp_path, record())
    assert film is not None
    assert film.screenshot is not None
    with Image.open(io.BytesIO(film.screenshot)) as image:
        assert image.size == (360, 576)
    drawn = films([("one", film)], 700)
    assert drawn is not None
    assert "data:image/jpeg;base64," in drawn
    assert progress_strip(film, 700) is None


def test_a_trial_without_pictures_has_no_film(tmp_path: Path) -> None:
    assert film_of(tmp_path, record()) is None
    assert films([], 700) is None


def test_a_picture_that_is_none_is_said_to_be_damaged(tmp_path: Path) -> None:
    (tmp_path / SCREENSHOT).write_bytes(b"no picture")
    with pytest.raises(StoreError, match=r"screenshot\.png cannot be read"):
        film_of(tmp_path, record())
    (tmp_path / SCREENSHOT).unlink()
    (tmp_path / FILMSTRIP).write_bytes(gzip.compress(b"{}"))
    with pytest.raises(StoreError, match=r"filmstrip\.json\.gz cannot be read"):
        film_of(tmp_path, record())
