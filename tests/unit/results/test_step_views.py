"""Each step of a journey is drawn on a clock of its own, which begins when it was asked for."""

from lanelab.analysis.results.load_view import load_view
from lanelab.analysis.results.step_views import views_of_steps
from tests.kit.journeys import NEWS, read, restored, sound


def test_steps_have_their_own_requests_from_their_own_begin() -> None:
    record = read(sound())
    views = dict(views_of_steps(record, load_view(record, None, None)))
    assert list(views) == ["home", "news", "back"]
    news = views["news"]
    assert news.rows[0].request.url.endswith(NEWS)
    assert [len(view.rows) for view in views.values()] == [3, 3, 3]
    assert all(0 <= row.bars[0].start < 500 for view in views.values() for row in view.rows)
    assert dict(news.events)["load"] == 994.0  # 990 ms of the navigation's, which began 4 ms after it was asked for


def test_a_step_that_asked_for_nothing_is_not_drawn() -> None:
    record = read(restored())
    assert [name for name, _ in views_of_steps(record, load_view(record, None, None))] == ["home", "news"]
