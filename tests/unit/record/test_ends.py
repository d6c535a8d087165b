"""A connection is known by the client's port and the server's address and port."""

import pytest

from lanelab.driver.record.evidence.ends import Ends, ports_of

ONE, TWO, THIRD = Ends(40001, "10.10.16.1", 80), Ends(40001, "10.10.16.2", 80), Ends(40002, "10.10.16.1", 80)


@pytest.mark.parametrize(
    ("server", "ends"),
    [
        ("10.10.16.1:80", ONE),
        (":80", Ends(40001, "", 80)),
        ("[fd00::2]:443", Ends(40001, "fd00::2", 443)),
        ("fd00::2:443", Ends(40001, "fd00::2", 443)),
    ],
)
def test_logs_write_two_addresses(server: str, ends: Ends) -> None:
    assert Ends.of("10.10.1.2:40001", server) == ends


def test_a_connection_has_a_name_without_the_servers_address() -> None:
    assert ONE.names == (ONE, Ends(40001, "", 80))
    assert set(ONE.names) & set(TWO.names) == {Ends(40001, "", 80)}
    assert not set(ONE.names) & set(THIRD.names)


def test_the_server_is_named_where_two_have_one_port() -> None:
    assert ports_of([ONE, THIRD], []) == ["40001", "40002"]
    assert ports_of([ONE, THIRD], [ONE, TWO]) == ["40001 to 10.10.16.1:80", "40002"]
    assert ports_of([ONE, TWO], []) == ["40001 to 10.10.16.1:80", "40001 to 10.10.16.2:80"]
    assert ports_of([Ends(40001, "", 80)], [ONE, TWO]) == ["40001"]
