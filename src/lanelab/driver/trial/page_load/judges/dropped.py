"""What the client's own sockets dropped of a load by HTTP/3: a reason to doubt it, since to its connections these are
losses as those on the link are, which the link does not have. Over TCP a kernel takes what comes, and asks for no more
than it has room for."""

from collections.abc import Iterator

from lanelab.driver.record.reasons import Flag, FlagName
from lanelab.driver.trial.datagrams import drops_in_words
from lanelab.driver.trial.page_load.judges.judge import Case, Judge, Needs


def _flags(case: Case) -> Iterator[Flag]:
    datagrams = case.evidence.datagrams
    detail = drops_in_words(datagrams, "client", "browser") if datagrams else ""
    if detail:
        yield Flag(FlagName.CLIENT_DROPPED, detail)


JUDGE = Judge(Needs.TRIAL, flags=_flags)
