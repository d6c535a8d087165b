/* A whole dialogue: the input is read as orders, some of them frames of a peer
 * (with header blocks compressed as they should be, so that what is behind the
 * compression is reached), some of them calls of the session's user, some of
 * them memory that runs out. Checked: the output is whole frames, and no
 * window is overdrawn. */
#include "compression.h"
#include "frame.h"
#include "memory.h"
#include "fuzzers.h"
#include "spdy_session.h"

#include <stdlib.h>
#include <string.h>

typedef struct dialogue {
    const uint8_t *orders;
    size_t left;
    spdy_version version;
    spdy_session *session;
    spdy_compressor compressor;
    uint32_t next_id; /* of the peer's streams */
    spdy_buffer output;
    uint64_t now_ms;
    unsigned last_type; /* of its frames; 0: DATA */
    bool failed;
    long scarce; /* allocations that are left while the session receives */
} dialogue;

static long allocations_left = -1; /* negative: as many as wanted */

static void *scarce(void *old, size_t bytes)
{
    if (allocations_left == 0)
        return NULL;
    if (allocations_left > 0)
        allocations_left--;
    return realloc(old, bytes);
}

static void demand(bool what)
{
    if (!what)
        abort();
}

static uint8_t next(dialogue *with)
{
    if (!with->left)
        return 0;
    with->left--;
    return *with->orders++;
}

static uint32_t next_word(dialogue *with)
{
    uint32_t word = 0;
    unsigned i;

    for (i = 0; i < 4; i++)
        word = word << 8 | next(with);
    return word;
}

static size_t next_bytes(dialogue *with, const uint8_t **bytes)
{
    size_t length = next(with);

    if (length > with->left)
        length = with->left;
    *bytes = with->orders;
    with->orders += length;
    with->left -= length;
    return length;
}

/* Mostly a stream of those opened last, sometimes any. */
static uint32_t next_stream(dialogue *with)
{
    uint8_t choice = next(with);

    return choice < 0xf0 ? with->next_id - 2 * (choice % 8) + (choice & 0x80 ? 1 : 0) : next_word(with);
}

static void take_output(dialogue *with)
{
    const uint8_t *bytes;
    size_t length;

    while (spdy_session_output(with->session, &bytes, &length)) {
        length = length > 100 ? length / 2 : length; /* a write that was short */
        demand(spdy_buffer_append(&with->output, bytes, length));
        spdy_session_output_sent(with->session, length);
    }
    while (spdy_buffer_length(&with->output) >= SPDY_HEAD_BYTES) {
        spdy_head head = spdy_head_read(spdy_buffer_bytes(&with->output));

        demand(!head.control || head.version == spdy_wire_version(with->version));
        demand(!head.control || (head.type >= SPDY_FRAME_SYN_STREAM && head.type <= SPDY_FRAME_WINDOW_UPDATE));
        demand(spdy_buffer_length(&with->output) >= SPDY_HEAD_BYTES + head.length);
        with->last_type = head.type;
        spdy_buffer_take(&with->output, SPDY_HEAD_BYTES + head.length);
    }
    demand(spdy_buffer_length(&with->output) == 0);
}

static void give(dialogue *with, const void *bytes, size_t length)
{
    const uint8_t *from = bytes;
    spdy_event event;

    do {
        size_t taken;

        allocations_left = with->scarce;
        taken = spdy_session_receive(with->session, from, length, &event);
        with->scarce = allocations_left;
        allocations_left = -1;
        demand(taken <= length);
        from += taken;
        length -= taken;
        if (event.type == SPDY_EVENT_OPENED && !event.ended)
            spdy_stream_set_context(with->session, event.stream_id, with);
        else if (event.type >= SPDY_EVENT_HEADERS && event.type <= SPDY_EVENT_STREAM_FAILED &&
                 (event.stream_id & 1) == (with->next_id & 1))
            demand(event.context == with);
        with->failed = with->failed || event.type == SPDY_EVENT_SESSION_ERROR;
        if (event.ended && event.type != SPDY_EVENT_SESSION_ERROR)
            demand(!spdy_stream_is_open(with->session, event.stream_id));
    } while (event.type != SPDY_EVENT_NONE);
    demand(!length);
}

static void give_control(dialogue *with, spdy_frame_type type, unsigned flags, spdy_buffer *payload)
{
    uint8_t head[SPDY_HEAD_BYTES];

    spdy_head_write_control(with->version, type, flags, (uint32_t)spdy_buffer_length(payload), head);
    give(with, head, sizeof head);
    give(with, spdy_buffer_bytes(payload), spdy_buffer_length(payload));
    spdy_buffer_free(payload);
}

/* A block that is well formed in the large, its texts as the input has them. */
static void add_block(dialogue *with, spdy_buffer *block)
{
    unsigned count = next(with) % 8;
    unsigned texts = 2 * count;
    uint8_t number[4] = {0};
    size_t width = with->version == SPDY_VERSION_2 ? 2 : 4;

    number[width - 1] = (uint8_t)count;
    demand(spdy_buffer_append(block, number, width));
    for (; texts; texts--) {
        const uint8_t *bytes;
        size_t length = next_bytes(with, &bytes);

        number[width - 1] = (uint8_t)length;
        demand(spdy_buffer_append(block, number, width) && spdy_buffer_append(block, bytes, length));
    }
}

static void frame_with_block(dialogue *with, spdy_frame_type type)
{
    uint8_t fixed[SPDY_MOST_FIXED_BYTES] = {0};
    spdy_buffer block = {0}, payload = {0};
    uint8_t flags = next(with);
    const uint8_t *bytes;
    size_t length;

    if (type == SPDY_FRAME_SYN_STREAM && flags & 0x40)
        with->next_id += 2;
    spdy_put_32(fixed, flags & 0x40 ? with->next_id : next_stream(with));
    if (type == SPDY_FRAME_SYN_STREAM) {
        spdy_put_32(fixed + 4, flags & 0x20 ? next_stream(with) : 0);
        fixed[8] = next(with);
        fixed[9] = flags & 0x10 ? 1 : 0;
    }
    if (flags & 0x80) {
        length = next_bytes(with, &bytes);
        demand(spdy_buffer_append(&block, bytes, length));
    } else {
        add_block(with, &block);
    }
    demand(spdy_buffer_append(&payload, fixed, spdy_fixed_bytes(with->version, type)));
    if (flags & 8 || spdy_buffer_length(&block))
        demand(spdy_compressor_add(&with->compressor, spdy_buffer_bytes(&block), spdy_buffer_length(&block), &payload));
    spdy_buffer_free(&block);
    give_control(with, type, flags & 3, &payload);
}

static void frame_of_words(dialogue *with, spdy_frame_type type, uint32_t one, uint32_t two, size_t length)
{
    uint8_t words[8];
    spdy_buffer payload = {0};

    spdy_put_32(words, one);
    spdy_put_32(words + 4, two);
    demand(spdy_buffer_append(&payload, words, length));
    give_control(with, type, 0, &payload);
}

static void frame_settings(dialogue *with)
{
    uint32_t count = next(with) % 4;
    uint8_t entry[8];
    spdy_buffer payload = {0};

    spdy_put_32(entry, count);
    demand(spdy_buffer_append(&payload, entry, 4));
    for (; count; count--) {
        spdy_setting_write_id(with->version, next(with) % 16, next(with), entry);
        spdy_put_32(entry + 4, next_word(with));
        demand(spdy_buffer_append(&payload, entry, 8));
    }
    give_control(with, SPDY_FRAME_SETTINGS, 0, &payload);
}

static void frame_data(dialogue *with)
{
    static const uint8_t zeroes[65536];
    uint8_t head[SPDY_HEAD_BYTES];
    uint8_t flags = next(with);
    uint32_t length = flags & 0x40 ? (uint32_t)next(with) << 8 : next(with) % 16;

    spdy_head_write_data(next_stream(with) & SPDY_ID_MASK, flags & 3, length, head);
    give(with, head, sizeof head);
    if (flags & 0x20) /* its end comes later, or never: then the next frame's bytes are data */
        length /= 2;
    give(with, zeroes, length);
}

static void send_some(dialogue *with, unsigned most_frames)
{
    spdy_slot slot;

    while (most_frames-- && spdy_session_next(with->session, &slot)) {
        bool fin = next(with) & 1;
        size_t bytes = slot.most_bytes ? next_word(with) % (slot.most_bytes + 1) : 0;
        uint8_t head[SPDY_FRAME_HEAD_BYTES];

        demand(slot.most_bytes <= 65536 && (int64_t)slot.most_bytes <= spdy_session_send_window(with->session));
        demand(!slot.most_bytes || (int64_t)slot.most_bytes <= spdy_stream_send_window(with->session, slot.stream_id));
        take_output(with);
        demand(spdy_stream_data_head(with->session, slot.stream_id, bytes, fin, head) == SPDY_OK);
        if (!fin && next(with) & 1)
            spdy_stream_offer(with->session, slot.stream_id, SPDY_OFFER_NOTHING);
    }
}

static void call(dialogue *with)
{
    spdy_header headers[2] = {{{"one", 3}, {"1", 1}}, {{"Two", 3}, {"2", 1}}};
    uint8_t choice = next(with);
    uint32_t id = next_stream(with);
    spdy_opening opening = {choice >> 4, id, choice & 1, choice & 2};

    switch (choice % 12) {
    case 0:
    case 1:
        spdy_stream_reply(with->session, id, headers, 2, choice & 0x80);
        break;
    case 2:
        spdy_stream_headers(with->session, id, headers, choice % 3, choice & 0x80);
        break;
    case 3:
    case 4:
        spdy_stream_offer(with->session, id, choice >> 6 & 1 ? SPDY_OFFER_DATA : SPDY_OFFER_FIN);
        break;
    case 5:
        spdy_stream_reset(with->session, id, choice >> 4);
        break;
    case 6:
        spdy_stream_consumed(with->session, id, next_word(with));
        break;
    case 7:
        spdy_stream_discard(with->session, id);
        break;
    case 8:
        spdy_stream_open(with->session, &opening, headers, 2, &id);
        break;
    case 9:
        spdy_session_goaway(with->session, choice & 0x80 ? SPDY_GOAWAY_OK : SPDY_GOAWAY_INTERNAL_ERROR);
        break;
    case 10:
        spdy_session_clock(with->session, with->now_ms += next_word(with));
        break;
    default:
        spdy_session_blame(with->session, choice & 0x80 ? SPDY_BLAME_FAULT : SPDY_BLAME_REFUSED);
    }
}

static void obey(dialogue *with)
{
    const uint8_t *bytes;
    size_t length;
    uint8_t order = next(with);

    switch (order % 16) {
    case 0:
        length = next_bytes(with, &bytes);
        give(with, bytes, length);
        break;
    case 1:
    case 2:
    case 3:
        frame_with_block(with, SPDY_FRAME_SYN_STREAM);
        break;
    case 4:
        frame_with_block(with, order & 0x80 ? SPDY_FRAME_SYN_REPLY : SPDY_FRAME_HEADERS);
        break;
    case 5:
        frame_data(with);
        break;
    case 6:
        frame_of_words(with, SPDY_FRAME_RST_STREAM, next_stream(with), next(with), 8);
        break;
    case 7:
        frame_of_words(with, SPDY_FRAME_WINDOW_UPDATE, order & 0x80 ? 0 : next_stream(with), next_word(with), 8);
        break;
    case 8:
        frame_settings(with);
        break;
    case 9:
        frame_of_words(with, SPDY_FRAME_PING, next_word(with), 0, 4);
        break;
    case 10:
        frame_of_words(with, SPDY_FRAME_GOAWAY, next_stream(with), next(with), 8);
        break;
    case 11:
        send_some(with, next(with) % 32);
        break;
    case 12:
        take_output(with);
        break;
    default:
        call(with);
    }
}

static void talk(dialogue *with, uint8_t how)
{
    spdy_limits limits;

    spdy_limits_default(&limits);
    limits.data_frame_bytes = how & 0x20 ? 65536 : 100;
    limits.stream_window_bytes = how & 0x10 ? 65536 : 16;
    limits.concurrent_streams = how & 0x20 ? 100 : 3;
    if (!(how & 8)) {
        limits.headers = 5;
        limits.period_headers = 5;
        limits.period_empty = 20;
        limits.output_bytes = 20000;
    }
    limits.header_compression = how & 0x80 ? 0 : 9;
    limits.header_expanded_bytes = how & 8 ? 65536 : 64;
    limits.header_hard_bytes = how & 8 ? 1048576 : 1024;
    with->session = spdy_session_new(how & 4 ? SPDY_ROLE_CLIENT : SPDY_ROLE_SERVER, with->version, &limits);
    with->next_id = how & 4 ? 0 : (uint32_t)-1;
    demand(with->session);
    spdy_memory_source = scarce;
    while (with->left) {
        /* The peer's own compression and the test's buffers shall not lack memory. */
        uint8_t scarce_memory = how & 0x40 ? next(with) : 0;

        if (scarce_memory == 0xff) {
            allocations_left = next(with) % 8;
            call(with);
            allocations_left = -1;
        }
        with->scarce = scarce_memory == 0xfe ? next(with) % 8 : -1;
        obey(with);
    }
    take_output(with);
    if (with->failed && !(how & 0x40)) /* with memory enough */
        demand(with->last_type == SPDY_FRAME_GOAWAY);
    spdy_memory_source = realloc;
}

int spdy_fuzz_dialogue(const uint8_t *bytes, size_t length)
{
    dialogue with = {0};

    if (!length || length > 16384)
        return 0;
    with.version = (bytes[0] & 3) % 3;
    with.orders = bytes + 1;
    with.left = length - 1;
    demand(spdy_compressor_start(&with.compressor, with.version, bytes[0] & 0x80 ? 9 : 0));
    talk(&with, bytes[0]);
    spdy_compressor_end(&with.compressor);
    spdy_session_free(with.session);
    spdy_buffer_free(&with.output);
    return 0;
}

FUZZ_ALONE_WITH(spdy_fuzz_dialogue)
