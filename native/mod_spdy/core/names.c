#include "spdy.h"

#include <string.h>

static const struct {
    const char *name, *alpn;
    unsigned char wire, lowest_priority;
} versions[] = {
    [SPDY_VERSION_2] = {"2", "spdy/2", 2, 3},
    [SPDY_VERSION_3] = {"3", "spdy/3", 3, 7},
    [SPDY_VERSION_3_1] = {"3.1", "spdy/3.1", 3, 7},
};

unsigned spdy_lowest_priority(spdy_version version)
{
    return versions[version].lowest_priority;
}

const char *spdy_version_name(spdy_version version)
{
    return versions[version].name;
}

const char *spdy_version_alpn(spdy_version version)
{
    return versions[version].alpn;
}

bool spdy_version_parse(const char *name, spdy_version *version)
{
    size_t i;

    for (i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        if (strcmp(name, versions[i].name) && strcmp(name, versions[i].alpn))
            continue;
        *version = (spdy_version)i;
        return true;
    }
    return false;
}

const char *spdy_status_name(uint32_t status)
{
    static const char *const names[] = {
        [SPDY_STATUS_PROTOCOL_ERROR] = "PROTOCOL_ERROR",
        [SPDY_STATUS_INVALID_STREAM] = "INVALID_STREAM",
        [SPDY_STATUS_REFUSED_STREAM] = "REFUSED_STREAM",
        [SPDY_STATUS_UNSUPPORTED_VERSION] = "UNSUPPORTED_VERSION",
        [SPDY_STATUS_CANCEL] = "CANCEL",
        [SPDY_STATUS_INTERNAL_ERROR] = "INTERNAL_ERROR",
        [SPDY_STATUS_FLOW_CONTROL_ERROR] = "FLOW_CONTROL_ERROR",
        [SPDY_STATUS_STREAM_IN_USE] = "STREAM_IN_USE",
        [SPDY_STATUS_STREAM_ALREADY_CLOSED] = "STREAM_ALREADY_CLOSED",
        [SPDY_STATUS_INVALID_CREDENTIALS] = "INVALID_CREDENTIALS",
        [SPDY_STATUS_FRAME_TOO_LARGE] = "FRAME_TOO_LARGE",
    };

    return status && status < sizeof names / sizeof names[0] ? names[status] : "unknown status";
}

const char *spdy_result_text(spdy_result result)
{
    static const char *const texts[] = {
        [SPDY_OK] = "done",
        [SPDY_NO_MEMORY] = "no memory; the session is over",
        [SPDY_NO_SUCH_STREAM] = "the stream has ended or was never opened",
        [SPDY_WRONG_STATE] = "the stream's state does not allow it",
        [SPDY_TOO_LARGE] = "more than a frame or a window holds",
        [SPDY_BAD_HEADERS] = "a header's name is no token or its value contains NUL",
        [SPDY_TOO_MANY] = "the peer allows no further stream",
        [SPDY_OUTPUT_WAITING] = "output has to be taken first",
        [SPDY_SESSION_OVER] = "the session is over",
    };

    return texts[result];
}

/* A session begins with a control frame: most with SYN_STREAM or SETTINGS, any is possible. */
spdy_guess spdy_guess_client(spdy_version version, const void *bytes, size_t length)
{
    const unsigned char begin[] = {0x80, versions[version].wire, 0};
    size_t compare = length < sizeof begin ? length : sizeof begin;

    if (memcmp(bytes, begin, compare) != 0)
        return SPDY_GUESS_NO;
    return length < 8 ? SPDY_GUESS_MORE : SPDY_GUESS_YES;
}
