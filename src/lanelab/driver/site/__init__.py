"""Archived websites: how they are recorded, imported, generated, minified and prepared for an arm."""
