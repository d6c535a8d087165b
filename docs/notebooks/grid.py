# %% [markdown]
# # A grid as a heatmap, and where two arms cross
#
# Each cell below shows what it ends with. The run is one that comes with lanelab: change `sample_run()` to
# `open_run("latest")` for a run of your own.

# %%
import altair
import lanelab
import pyarrow.compute as pc

altair.renderers.enable("svg")  # drawn here; what Altair does usually fetches its drawing code from the network
run = lanelab.sample_run()
run

# %% [markdown]
# ## The medians
# A trial that failed is no number. How many were left out is beside each median.

# %%
medians = run.median("plt", by=("link.rtt", "arm"))
medians.to_pylist()

# %%
run.chart(y="plt", x="rtt", series="arm", kind="heatmap")

# %% [markdown]
# ## The crossover
# The change that HTTP/2 makes against HTTP/1.1, over the round-trip time: where its line passes 0%, the faster of the two
# becomes the slower. Where that is between two places that were measured nobody knows: measure more round-trip times there. In
# a grid of round-trip times and rates, `kind="heatmap", series="rate"`, it is where blue (faster) turns to orange; a number in
# brackets is on neither side.

# %%
changes = run.compare("HTTP/2", "HTTP").table()
for row in changes.sort_by("link").to_pylist():
    print(f"{row['link']}: {row['ratio'] - 1:+.0%} ({row['ratio_low'] - 1:+.0%} to {row['ratio_high'] - 1:+.0%}), {row['verdict']}")

# %%
run.chart(y="change", x="rtt", series="arm", kind="line")

# %% [markdown]
# ## Trials themselves
# Tables are Arrow's: `trials.to_pandas()`, `polars.from_arrow(trials)` and DuckDB read them as they are.

# %%
trials = run.trials()
slow = trials.filter(pc.field("plt_ms") > pc.scalar(3000.0))
print(f"{len(trials)} trials, {len(slow)} of them above 3 s")
