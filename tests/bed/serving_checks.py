"""Which checks each web server of a bed has to pass: those of BOTH all but webfs. test_serving.py runs them."""

from tests.bed.serving import HERE, OTHERS
from tests.bed.serving_answers import (
    answers_wait_and_keep_no_other_waiting,
    compression_is_as_asked,
    each_origin_has_its_address,
    every_mpm_serves,
    every_object_comes_as_the_manifest_says,
    http2_is_negotiated,
    keepalive_is_as_asked,
    names_that_differ_in_case_alone_are_told_apart,
    one_connection_may_be_for_several_hosts,
    recorded_answers_come_as_they_were,
    responses_are_the_same_every_time,
    resumption_is_as_asked,
    the_certificate_is_the_leaf,
    three_hundred_origins_have_an_address_each,
    tls_is_exactly_the_one_asked_for,
    what_the_site_does_not_have_is_404,
)
from tests.bed.serving_life import (
    a_child_that_dies_is_an_unexpected_line,
    a_crash_is_told_and_cleared_away,
    a_denied_file_is_an_unexpected_line,
    a_directive_that_apache_does_not_take_is_named,
    a_directive_that_nginx_does_not_take_is_named,
    a_file_that_nginx_cannot_open_is_an_unexpected_line,
    a_port_in_use_is_named,
    a_worker_of_nginx_that_dies_is_an_unexpected_line,
    bad_lines_in_its_error_log_are_seen,
    it_is_first_stopped_gracefully,
    many_starts_are_quick,
    nothing_is_left,
)
from tests.kit.inside import Check, InsideBed, main

BOTH = (
    every_object_comes_as_the_manifest_says,
    responses_are_the_same_every_time,
    what_the_site_does_not_have_is_404,
    keepalive_is_as_asked,
    tls_is_exactly_the_one_asked_for,
    resumption_is_as_asked,
    the_certificate_is_the_leaf,
    http2_is_negotiated,
    compression_is_as_asked,
    each_origin_has_its_address,
    three_hundred_origins_have_an_address_each,
    recorded_answers_come_as_they_were,
    names_that_differ_in_case_alone_are_told_apart,
    one_connection_may_be_for_several_hosts,
    a_port_in_use_is_named,
    nothing_is_left,
    a_crash_is_told_and_cleared_away,
)


APACHE = (
    every_mpm_serves,
    bad_lines_in_its_error_log_are_seen,
    a_child_that_dies_is_an_unexpected_line,
    it_is_first_stopped_gracefully,
    a_denied_file_is_an_unexpected_line,
    a_directive_that_apache_does_not_take_is_named,
)


NGINX = (
    answers_wait_and_keep_no_other_waiting,
    a_worker_of_nginx_that_dies_is_an_unexpected_line,
    a_file_that_nginx_cannot_open_is_an_unexpected_line,
    a_directive_that_nginx_does_not_take_is_named,
)


def with_server(name: str, check: Check) -> Check:
    """The same check, of this server."""

    def run(bed: InsideBed) -> None:
        bed.kept["server"] = name
        check(bed)

    run.__name__ = f"{name}: {check.__name__}"
    return run


CHECKS = {
    "apache": [with_server("apache", check) for check in (*BOTH, *APACHE, many_starts_are_quick)],
    "nginx": [with_server("nginx", check) for check in (*BOTH, *NGINX, many_starts_are_quick)],
}


CHECKS |= {
    name: [with_server(name, check) for check in (*BOTH, *more, many_starts_are_quick)] for name, more in OTHERS.items()
}


if __name__ == "__main__":
    main(*(check for name in HERE for check in CHECKS[name]))
