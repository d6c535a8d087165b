# %% [markdown]
# # The packets of one slow load
#
# Which trial was slow, what it waited for, and what went over the wire meanwhile.

# %%
import lanelab
import pyarrow.compute as pc

run = lanelab.sample_run()
median = {(row["link"], row["arm"]): row["plt_ms"] for row in run.median("plt", by=("link", "arm")).to_pylist()}
loads = [row for row in run.trials().to_pylist() if row["status"] == "ok"]
slowest = max(loads, key=lambda row: row["plt_ms"] / median[row["link"], row["arm"]])
trial = run.trial(slowest["trial"])
print(f"trial {trial.number}: {slowest['plt_ms']:.0f} ms, {slowest['plt_ms'] / median[trial.link, trial.arm]:.2f} of its cell's median")
trial.page()

# %% [markdown]
# ## Packets, by lanelab's own reader
# `at_ms` counts from when the page was asked for. The longest silence is where to look first.

# %%
packets = trial.packets(filter=pc.field("payload") > 0)
times = packets.column("at_ms").to_pylist()
silence, after = max((later - earlier, earlier) for earlier, later in zip(times, times[1:]))
print(f"{len(times)} packets with data; the longest silence is {silence:.0f} ms, after {after:.0f} ms")

# %%
around = packets.filter((pc.field("at_ms") >= after - 1) & (pc.field("at_ms") <= after + silence + 1))
around.to_pylist()

# %% [markdown]
# ## The same file in Wireshark
# The keys are within the capture: nothing is to be set. `trial.dissected(…)` asks tshark for fields,
# `trial.pyshark(…)` gives pyshark's packets, here in a notebook, too.

# %%
print(trial.file("client.pcapng.gz"))
