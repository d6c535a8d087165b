#include "frame.h"

unsigned spdy_wire_version(spdy_version version)
{
    return version == SPDY_VERSION_2 ? 2 : 3;
}

spdy_head spdy_head_read(const uint8_t bytes[SPDY_HEAD_BYTES])
{
    spdy_head head = {.control = bytes[0] & 0x80, .flags = bytes[4], .length = spdy_get_24(bytes + 5)};

    if (head.control) {
        head.version = spdy_get_16(bytes) & 0x7fff;
        head.type = spdy_get_16(bytes + 2);
    } else {
        head.stream_id = spdy_get_32(bytes);
    }
    return head;
}

void spdy_head_write_control(spdy_version version, spdy_frame_type type, unsigned flags, uint32_t length,
                             uint8_t bytes[SPDY_HEAD_BYTES])
{
    spdy_put_16(bytes, 0x8000 | spdy_wire_version(version));
    spdy_put_16(bytes + 2, type);
    bytes[4] = (uint8_t)flags;
    spdy_put_24(bytes + 5, length);
}

void spdy_head_write_data(uint32_t stream_id, unsigned flags, uint32_t length, uint8_t bytes[SPDY_HEAD_BYTES])
{
    spdy_put_32(bytes, stream_id);
    bytes[4] = (uint8_t)flags;
    spdy_put_24(bytes + 5, length);
}

uint32_t spdy_setting_read_id(spdy_version version, const uint8_t entry[4])
{
    if (version == SPDY_VERSION_2)
        return (uint32_t)entry[2] << 16 | (uint32_t)entry[1] << 8 | entry[0];
    return spdy_get_24(entry + 1);
}

void spdy_setting_write_id(spdy_version version, uint32_t id, unsigned flags, uint8_t entry[4])
{
    if (version == SPDY_VERSION_2) {
        entry[0] = (uint8_t)id;
        entry[1] = (uint8_t)(id >> 8);
        entry[2] = (uint8_t)(id >> 16);
        entry[3] = (uint8_t)flags;
        return;
    }
    entry[0] = (uint8_t)flags;
    spdy_put_24(entry + 1, id);
}
