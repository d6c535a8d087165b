# %% [markdown]
# # A paper's figure, and what became of its claims
#
# A published statement is written into the experiment as a claim, in a form that can be checked. The run then says of each
# whether it is reproduced, how sure that is, and why.

# %%
import altair
import lanelab

altair.renderers.enable("svg")  # drawn here; what Altair does usually fetches its drawing code from the network
run = lanelab.sample_run()
claims = run.claims()
claims

# %%
for judged in claims.judged:
    print(f"{judged.claim.name}: {judged.verdict}")

# %% [markdown]
# ## The figure
# Bars of each arm over each link, as papers draw them, with intervals, which papers often leave out.

# %%
run.chart(y="plt", x="link", series="arm", kind="bar")

# %% [markdown]
# ## Why
# The parts of the load time add up to it, so a difference has a place.

# %%
run.explain("HTTP", against="HTTP without keepalive")

# %%
run.chart(y="plt", x="arm", kind="parts")
