"""A site from a recipe, which says what it consists of."""

from lanelab.driver.site.generate.new import add_generated as generate_site

__all__ = ["generate_site"]
