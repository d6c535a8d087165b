"""What one page load looked like on the wire: a script to change, cell by cell in a notebook or as it is.

pip install pyshark                                   # and the program tshark
python packets_of_a_trial.py runs/…/trials/000012/client.pcapng.gz
"""

# %% The capture has its TLS keys inside, so everything is there in clear.
import sys
from collections import defaultdict

import pyshark

capture = sys.argv[1]  # in a notebook: the path of a trial's client.pcapng.gz
options = ["-n", "-o", "tcp.reassemble_out_of_order:TRUE"]  # else nothing is dissected behind what was sent again
packets = list(pyshark.FileCapture(capture, keep_packets=False, custom_parameters=options))
start = float(packets[0].sniff_timestamp)
print(f"{len(packets)} packets in {float(packets[-1].sniff_timestamp) - start:.3f} s")

# %% Each connection: when it began, how many bytes came, how many segments Wireshark takes for sent again.
began: dict[int, float] = {}
came: dict[int, int] = defaultdict(int)
again: dict[int, int] = defaultdict(int)
for packet in packets:
    if "tcp" not in packet:
        continue
    stream = int(packet.tcp.stream)
    began.setdefault(stream, float(packet.sniff_timestamp) - start)
    if packet.tcp.srcport in ("80", "443"):
        came[stream] += int(packet.tcp.len)
    again[stream] += hasattr(packet.tcp, "analysis_retransmission")
for stream, second in began.items():
    print(f"connection {stream}: at {1000 * second:.1f} ms, {came[stream]} bytes down, {again[stream]} sent again")

# %% Each request of HTTP/1.1 and HTTP/2, and when its answer began.
asked: dict[tuple[str, str], str] = {}
for packet in packets:
    now = 1000 * (float(packet.sniff_timestamp) - start)
    if "http" in packet and hasattr(packet.http, "request_full_uri"):
        asked[packet.tcp.stream, packet.number] = packet.http.request_full_uri
        print(f"{now:8.1f} ms  {packet.http.request_full_uri}")
    if "http" in packet and hasattr(packet.http, "response_code"):
        print(f"{now:8.1f} ms  {packet.http.response_code} for {getattr(packet.http, 'response_for_uri', 'a request')}")
    for layer in packet.layers:
        if layer.layer_name != "http2" or not hasattr(layer, "streamid"):
            continue
        if hasattr(layer, "headers_path"):
            asked[packet.tcp.stream, layer.streamid] = f"{layer.headers_authority}{layer.headers_path}"
            print(f"{now:8.1f} ms  stream {layer.streamid}: {asked[packet.tcp.stream, layer.streamid]}")
        elif hasattr(layer, "headers_status"):
            url = asked.get((packet.tcp.stream, layer.streamid), "a request")
            print(f"{now:8.1f} ms  stream {layer.streamid}: {layer.headers_status} for {url}")
print(f"{len(asked)} requests")
