"""Settings of a kernel that shape TCP. They are in the record of a run, and read back after each load."""

SYSCTLS = (
    "net/core/default_qdisc",
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/ipv4/tcp_allowed_congestion_control",
    "net/ipv4/tcp_autocorking",
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_dsack",
    "net/ipv4/tcp_ecn",
    "net/ipv4/tcp_fastopen",
    "net/ipv4/tcp_limit_output_bytes",
    "net/ipv4/tcp_mtu_probing",
    "net/ipv4/tcp_no_metrics_save",
    "net/ipv4/tcp_notsent_lowat",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_timestamps",
    "net/ipv4/tcp_tw_reuse",
    "net/ipv4/tcp_window_scaling",
    "net/ipv4/tcp_wmem",
)
