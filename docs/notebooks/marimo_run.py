"""The same in marimo, where changing a choice changes what depends on it. Begin it with: marimo run docs/notebooks/marimo_run.py"""

import marimo

app = marimo.App(width="medium")


@app.cell
def _():
    import lanelab
    import marimo as mo

    run = lanelab.sample_run()
    return lanelab, mo, run


@app.cell
def _(mo, run):
    metric = mo.ui.dropdown(["plt", "fcp", "lcp", "speed_index", "ttfb"], value="plt", label="metric")
    arm = mo.ui.dropdown(list(run.arms), value=run.arms[-1], label="arm")
    against = mo.ui.dropdown(list(run.arms), value=run.arms[-2], label="against")
    mo.hstack([metric, arm, against])
    return against, arm, metric


@app.cell
def _(metric, mo, run):
    mo.ui.altair_chart(run.chart(y=metric.value, x="rtt", series="arm"))
    return


@app.cell
def _(against, arm, lanelab, mo, run):
    try:
        shown = mo.Html(run.compare(arm.value, against.value)._repr_html_())
    except lanelab.LanelabError as error:  # the experiment says what is compared with what
        shown = mo.md(str(error))
    shown
    return


if __name__ == "__main__":
    app.run()
