"""Recordings of other tools -> Exchanges. One file for each kind; `registry.py` tells them apart by their content."""
