# %% [markdown]
# # A small experiment, from the notebook
#
# Two delays, two arms, three rounds: about half a minute. It needs what `lanelab doctor` asks for.

# %%
import altair
import lanelab

altair.renderers.enable("svg")

experiment = lanelab.grid(
    sites="dummy",
    rtt=["20ms", "100ms"],
    rate="20mbit",
    queue="400p",
    trials=3,
    arms={"HTTP": {}, "HTTP/2": {"protocol": "h2", "tls": "1.3"}},
)
print(*experiment.plan().words(), sep="\n")

# %%
# A cell of a notebook may wait: the event loop goes on, so that what is printed appears.
run = await experiment.run_async(on_event=lambda event: print(event.words) if event.words else None)
run

# %%
run.compare("HTTP/2", "HTTP")

# %%
run.chart(y="plt", x="rtt", series="arm")
