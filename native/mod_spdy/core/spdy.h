/* Words and numbers of SPDY/2, SPDY/3 and SPDY/3.1 that the core's users share.
 *
 * The core knows neither Apache nor sockets nor threads: bytes go in, events
 * come out (spdy_session.h). One thread at a time may use a session. */
#ifndef SPDY_H
#define SPDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum spdy_version { SPDY_VERSION_2, SPDY_VERSION_3, SPDY_VERSION_3_1 } spdy_version;

typedef enum spdy_role { SPDY_ROLE_SERVER, SPDY_ROLE_CLIENT } spdy_role;

/* Status of RST_STREAM. SPDY/2 knows the first seven; the core translates the
 * others to PROTOCOL_ERROR or REFUSED_STREAM when it speaks SPDY/2. */
typedef enum spdy_status {
    SPDY_STATUS_PROTOCOL_ERROR = 1,
    SPDY_STATUS_INVALID_STREAM = 2,
    SPDY_STATUS_REFUSED_STREAM = 3, /* nothing was done for it: the peer may ask again */
    SPDY_STATUS_UNSUPPORTED_VERSION = 4,
    SPDY_STATUS_CANCEL = 5,
    SPDY_STATUS_INTERNAL_ERROR = 6,
    SPDY_STATUS_FLOW_CONTROL_ERROR = 7,
    SPDY_STATUS_STREAM_IN_USE = 8,
    SPDY_STATUS_STREAM_ALREADY_CLOSED = 9,
    SPDY_STATUS_INVALID_CREDENTIALS = 10,
    SPDY_STATUS_FRAME_TOO_LARGE = 11
} spdy_status;

/* Status of GOAWAY (SPDY/2 sends none). */
typedef enum spdy_goaway_status {
    SPDY_GOAWAY_OK = 0,
    SPDY_GOAWAY_PROTOCOL_ERROR = 1,
    SPDY_GOAWAY_INTERNAL_ERROR = 2
} spdy_goaway_status;

/* What a call did not do, and why. */
typedef enum spdy_result {
    SPDY_OK = 0,
    SPDY_NO_MEMORY,      /* the session is over; its GOAWAY is sent if there is room for it */
    SPDY_NO_SUCH_STREAM, /* ended, reset or never opened: drop what you had for it */
    SPDY_WRONG_STATE,    /* e.g. data before the reply, anything after FIN */
    SPDY_TOO_LARGE,      /* more data than the slot allows; a header block over 15 MiB */
    SPDY_BAD_HEADERS,    /* empty name, NUL in a value or a name that is no token */
    SPDY_TOO_MANY,       /* the peer allows no further stream of ours now */
    SPDY_OUTPUT_WAITING, /* take spdy_session_output first: frames would change places */
    SPDY_SESSION_OVER    /* an error or GOAWAY ended it */
} spdy_result;

/* Bytes that somebody else owns; not NUL-terminated. */
typedef struct spdy_text {
    const char *bytes;
    size_t length;
} spdy_text;

/* One value of one name. A name with several values appears once per value,
 * next to each other when received; the encoder joins them wherever they are. */
typedef struct spdy_header {
    spdy_text name;
    spdy_text value;
} spdy_header;

/* 0 is the most urgent in every version; SPDY/2 has 0..3, SPDY/3 0..7. */
unsigned spdy_lowest_priority(spdy_version version);

const char *spdy_version_name(spdy_version version); /* "2", "3", "3.1" */
const char *spdy_version_alpn(spdy_version version); /* "spdy/2", "spdy/3", "spdy/3.1" */
/* Of "2", "3", "3.1" or the ALPN names. */
bool spdy_version_parse(const char *name, spdy_version *version);
const char *spdy_status_name(uint32_t status);
const char *spdy_result_text(spdy_result result);

/* Do these first bytes of a connection (8 or more; fewer are "not yet") begin a
 * SPDY session of this version? For prior knowledge in clear: HTTP's begin with
 * a letter, SPDY's with 0x80 and the version. */
typedef enum spdy_guess { SPDY_GUESS_NO, SPDY_GUESS_YES, SPDY_GUESS_MORE } spdy_guess;
spdy_guess spdy_guess_client(spdy_version version, const void *bytes, size_t length);

#endif
