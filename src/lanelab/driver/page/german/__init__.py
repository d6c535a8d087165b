"""The texts of the page in German, by the English ones, in a table for each part of it. A test compares them with what
the page says: none is missing, none is left over or in two tables, and the places for values are the same."""

from collections.abc import Mapping

from lanelab.driver.page.german import bench, labs, race, runs

TABLES = (runs.GERMAN, race.GERMAN, bench.GERMAN, labs.GERMAN)
GERMAN: Mapping[str, str] = {english: german for table in TABLES for english, german in table.items()}
