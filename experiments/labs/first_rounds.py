"""Medians of each cell by the first rounds of a run alone, beside those of all: first_rounds.py TRIALS.csv ROUNDS

For lab 8. TRIALS.csv is what `lanelab export RUN --format csv` writes.
"""

import csv
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

table, rounds = Path(sys.argv[1]), int(sys.argv[2])
first: dict[tuple[str, str], list[float]] = defaultdict(list)
every: dict[tuple[str, str], list[float]] = defaultdict(list)
with table.open(newline="") as file:
    for trial in csv.DictReader(file):
        if trial["status"] != "ok":
            continue
        cell = (trial["link"], trial["arm"])
        every[cell].append(float(trial["plt_ms"]))
        if int(trial["round"]) <= rounds:
            first[cell].append(float(trial["plt_ms"]))

base = next(iter(every))[1] if "blue" not in {arm for _, arm in every} else "blue"
print(f"{'link':14} {'arm':8} {f'first {rounds}':>14} {'all':>14}   (median ms, and change against {base})")
for link, arm in sorted(every):
    cells = []
    for medians in (first, every):
        own, other = median(medians[link, arm]), median(medians[link, base])
        cells.append(f"{own:6.0f} {100 * (own / other - 1):+6.1f}%")
    print(f"{link:14} {arm:8} {cells[0]} {cells[1]}")
