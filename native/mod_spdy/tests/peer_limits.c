/* Sessions with limits of their own. */
#include "peer.h"

peer *peer_strict(spdy_version version)
{
    spdy_limits limits;
    peer *at;

    spdy_limits_default(&limits);
    limits.concurrent_streams = 2;
    limits.header_compressed_bytes = 2000;
    limits.header_expanded_bytes = 3000;
    limits.header_hard_bytes = 10000;
    limits.headers = 5;
    limits.settings_entries = 3;
    limits.period_pings = 3;
    limits.period_resets = 3;
    limits.period_faults = 3;
    limits.period_settings = 3;
    limits.period_empty = 3;
    limits.period_headers = 3;
    limits.period_refused = 3;
    at = peer_new(SPDY_ROLE_SERVER, version, &limits);
    peer_forget(at);
    return at;
}

peer *peer_with_windows(spdy_version version, uint32_t stream_bytes, uint32_t session_bytes)
{
    spdy_limits limits;
    peer *at;

    spdy_limits_default(&limits);
    limits.stream_window_bytes = stream_bytes;
    limits.session_window_bytes = session_bytes;
    limits.data_frame_bytes = 100000;
    at = peer_new(SPDY_ROLE_SERVER, version, &limits);
    peer_forget(at);
    return at;
}
