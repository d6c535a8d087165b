"""The version of lanelab."""

VERSION = "0.1.0"
