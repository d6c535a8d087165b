# %% [markdown]
# # What a user sees: paints, speed index, filmstrip
#
# The load event is when everything is there. Users judge by what they see.

# %%
import altair
import lanelab

altair.renderers.enable("svg")  # drawn here; what Altair does usually fetches its drawing code from the network
run = lanelab.sample_run()
for metric in ("fcp", "lcp", "speed_index", "plt"):
    rows = run.median(metric, by=("link", "arm")).to_pylist()
    print(metric, *(f"{row['link']} {row['arm']}: {row[f'{metric}_ms']:.0f} ms" for row in rows), sep="\n  ")

# %%
run.chart(y="speed_index", x="link", series="arm", kind="bar")

# %% [markdown]
# ## The page as it appeared

# %%
trial = run.trial(3)  # a run keeps the pictures that its experiment asks for
trial.filmstrip()
