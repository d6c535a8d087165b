/* The head of frames, and numbers that only frames have. */
#ifndef SPDY_FRAME_H
#define SPDY_FRAME_H

#include "buffer.h"
#include "spdy.h"

enum { SPDY_HEAD_BYTES = 8, SPDY_MOST_PAYLOAD_BYTES = 0xffffff, SPDY_ID_MASK = 0x7fffffff };

typedef enum spdy_frame_type {
    SPDY_FRAME_SYN_STREAM = 1,
    SPDY_FRAME_SYN_REPLY = 2,
    SPDY_FRAME_RST_STREAM = 3,
    SPDY_FRAME_SETTINGS = 4,
    SPDY_FRAME_NOOP = 5, /* SPDY/2 */
    SPDY_FRAME_PING = 6,
    SPDY_FRAME_GOAWAY = 7,
    SPDY_FRAME_HEADERS = 8,
    SPDY_FRAME_WINDOW_UPDATE = 9 /* since SPDY/3 */
} spdy_frame_type;

enum { SPDY_FLAG_FIN = 1, SPDY_FLAG_UNIDIRECTIONAL = 2, SPDY_FLAG_COMPRESSED = 2 /* of SPDY/2's DATA */ };

typedef enum spdy_setting_id {
    SPDY_SETTING_UPLOAD_BANDWIDTH = 1,
    SPDY_SETTING_DOWNLOAD_BANDWIDTH = 2,
    SPDY_SETTING_ROUND_TRIP_TIME = 3,
    SPDY_SETTING_MAX_CONCURRENT_STREAMS = 4,
    SPDY_SETTING_CURRENT_CWND = 5,
    SPDY_SETTING_DOWNLOAD_RETRANS_RATE = 6,
    SPDY_SETTING_INITIAL_WINDOW_SIZE = 7,
    SPDY_SETTING_CLIENT_CERTIFICATE_VECTOR_SIZE = 8
} spdy_setting_id;

typedef struct spdy_head {
    bool control;
    unsigned version; /* the wire's number: 2 or 3 */
    unsigned type;    /* of a control frame */
    uint32_t stream_id; /* of DATA */
    unsigned flags;
    uint32_t length;
} spdy_head;

unsigned spdy_wire_version(spdy_version version);
spdy_head spdy_head_read(const uint8_t bytes[SPDY_HEAD_BYTES]);
void spdy_head_write_control(spdy_version version, spdy_frame_type type, unsigned flags, uint32_t length,
                             uint8_t bytes[SPDY_HEAD_BYTES]);
void spdy_head_write_data(uint32_t stream_id, unsigned flags, uint32_t length, uint8_t bytes[SPDY_HEAD_BYTES]);

/* The part of a control frame's payload that each of its type has. */
enum { SPDY_MOST_FIXED_BYTES = 10 };
size_t spdy_fixed_bytes(spdy_version version, spdy_frame_type type);

/* ID and flags of an entry in SETTINGS. SPDY/2 as it was built has the ID's 24
 * bits with the lowest byte first, then the flags; SPDY/3 flags, then the ID. */
uint32_t spdy_setting_read_id(spdy_version version, const uint8_t entry[4]);
void spdy_setting_write_id(spdy_version version, uint32_t id, unsigned flags, uint8_t entry[4]);

#endif
