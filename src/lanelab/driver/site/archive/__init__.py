"""Recordings as WARC files, and what a site has of them."""
