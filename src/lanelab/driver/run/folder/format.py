"""The format of a run folder: what a finished or unfinished run consists of, and nothing about how it is made.

Described for readers in docs/reference/run-folder.md. Change VERSION when a reader of the old format would go wrong.
"""

from pathlib import Path

from lanelab.driver.base.errors import StoreError
from lanelab.driver.record.metrics import LOAD, TRIALS

RUNS = Path("runs")  # where runs are put, and where their names are looked for
LATEST = "latest"  # the newest of them
VERSION = "6"
DATABASE = "run.sqlite"
EXPERIMENT = "experiment.yaml"  # verbatim
ARTIFACTS = "trials"  # trials/000012/…: one folder for each trial, complete when the trial is in the database
REPORT = "report.html"
IN_TABLES = ("requests", "measures")  # parts of a record that have tables of their own
# Keys of meta.
MERGING = ".merging"  # how the name of a folder ends that a merge has not finished
MERGED = "merged"  # key of meta: JSON, identifiers of the runs that it was merged of; not there in other runs
ID = "id"  # of the run, wherever its folder is
VARIANT = "variant"  # of the experiment; "" where it has none
SCALE = "scale"  # of loads, against what the experiment says; 1 where it is run as it stands
CLAIMS = "claims"  # JSON, a list of lanelab.driver.experiment.claim.Claim, as they were before the first trial
CLAIMS_DIGEST = "claims_sha256"  # of these claims: shows whether they were changed since
JOURNEY = "journey"  # JSON, names of the steps; only where trials make a journey
ABOUT_SITES = "about_sites"  # JSON, lanelab.driver.site.site_notes.AboutSite by name

SCHEMA = """
CREATE TABLE machines (
  machine INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  facts TEXT NOT NULL
) STRICT;
CREATE TABLE beds (
  bed INTEGER PRIMARY KEY,
  machine INTEGER NOT NULL REFERENCES machines (machine),
  uid TEXT NOT NULL UNIQUE,
  facts TEXT NOT NULL
) STRICT;
CREATE TABLE versions (
  versions TEXT PRIMARY KEY,
  data TEXT NOT NULL
) STRICT;
CREATE TABLE digests (  -- of trials and self-tests: driver/run/folder/digests.py
  kind TEXT NOT NULL CHECK (kind IN ('run', 'trial', 'self-test')),
  number INTEGER NOT NULL,
  parts TEXT NOT NULL,
  PRIMARY KEY (kind, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;
CREATE TABLE links (
  link INTEGER PRIMARY KEY,
  label TEXT NOT NULL UNIQUE,
  settings TEXT NOT NULL
) STRICT;
CREATE TABLE arms (
  arm INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  settings TEXT NOT NULL
) STRICT;
CREATE TABLE cells (
  cell INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  site TEXT NOT NULL,
  link INTEGER NOT NULL REFERENCES links (link),
  arm INTEGER NOT NULL REFERENCES arms (arm)
) STRICT;
CREATE TABLE sessions (
  session INTEGER PRIMARY KEY,
  started_utc TEXT NOT NULL,
  ended_utc TEXT,
  ending TEXT,
  provenance TEXT NOT NULL
) STRICT;
CREATE TABLE self_tests (
  self_test INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (session),
  bed INTEGER NOT NULL,
  link INTEGER NOT NULL REFERENCES links (link),
  moment TEXT NOT NULL CHECK (moment IN ('before', 'after')),
  at_utc TEXT NOT NULL,
  passed INTEGER NOT NULL,
  data TEXT NOT NULL
) STRICT;
CREATE TABLE trials (
  trial INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions (session),
  bed INTEGER NOT NULL,
  cell INTEGER NOT NULL REFERENCES cells (cell),
  round INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  started_utc TEXT NOT NULL,
  wall_s REAL NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'failed')),
  record TEXT NOT NULL,
  asked TEXT NOT NULL,
  versions TEXT NOT NULL,
  origin TEXT NOT NULL,
  UNIQUE (cell, round, attempt)
) STRICT;
CREATE UNIQUE INDEX one_ok_per_round ON trials (cell, round) WHERE status = 'ok';
CREATE TABLE measures (
  trial INTEGER NOT NULL REFERENCES trials (trial),
  name TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (trial, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE series (
  trial INTEGER NOT NULL REFERENCES trials (trial),
  name TEXT NOT NULL,
  t_ms REAL NOT NULL,
  value REAL NOT NULL
) STRICT;
CREATE INDEX series_of_trial ON series (trial, name, t_ms);
CREATE TABLE failures (
  trial INTEGER NOT NULL REFERENCES trials (trial),
  reason TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE TABLE flags (
  trial INTEGER NOT NULL REFERENCES trials (trial),
  name TEXT NOT NULL,
  detail TEXT NOT NULL
) STRICT;
CREATE TABLE requests (
  trial INTEGER NOT NULL REFERENCES trials (trial),
  number INTEGER NOT NULL,
  url TEXT NOT NULL,
  status INTEGER,
  protocol TEXT,
  connection INTEGER,
  priority TEXT,
  started_ms REAL NOT NULL,
  ended_ms REAL,
  wire_bytes INTEGER,
  body_bytes INTEGER,
  data TEXT NOT NULL,
  PRIMARY KEY (trial, number)
) STRICT;
CREATE TABLE artifacts (
  trial INTEGER NOT NULL REFERENCES trials (trial),
  name TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  PRIMARY KEY (trial, name)
) STRICT;
"""


def check_workload(folder: Path, workload: str, lanelab: str | None) -> None:
    """Raises StoreError for trials of a kind that lanelab has no more."""
    if workload not in TRIALS:
        what = f"the run in {folder} has trials of the workload {workload!r}, which this lanelab does not know"
        version = f" ({lanelab})" if lanelab else ""
        raise StoreError(what, f"Use the lanelab that made it{version}, or make the run again with workload: {LOAD}")


def check_version(folder: Path, version: str) -> None:
    """Raises StoreError for a run folder that is not of this format."""
    if version != VERSION:
        raise StoreError(
            f"the run in {folder} has format {version}, and this lanelab reads format {VERSION}",
            "Use the lanelab that made it, or make the run again",
        )
