"""Claims of a run, judged: `judge(run)` gives a verdict on each."""
