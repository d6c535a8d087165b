"""The order of the filters, which is the module's, whatever the order in an experiment."""

from lanelab.driver.site.minify import image_resources, image_steps, script_steps
from lanelab.driver.site.minify.css import combine, critical, inline, move, rewrite
from lanelab.driver.site.minify.extend import extend_cache
from lanelab.driver.site.minify.html import head, shorten
from lanelab.driver.site.minify.minify_options import Generation
from lanelab.driver.site.minify.work import Step

REWRITE_CSS = (
    *("rewrite_css", "flatten_css_imports", "fallback_rewrite_css_urls"),
    *("rewrite_style_attributes", "rewrite_style_attributes_with_url"),
)
EXTEND = ("extend_cache_css", "extend_cache_images", "extend_cache_scripts")

META = Step(("convert_meta_tags",), head.convert_meta_tags)
TRIM = Step(("trim_urls",), shorten.trim_urls)
QUOTES = Step(("remove_quotes",), shorten.remove_quotes)
WHITESPACE = Step(("collapse_whitespace",), shorten.collapse_whitespace)
DEFER = Step(("defer_javascript",), script_steps.defer_javascript)
LOADING = (
    Step(("inline_preview_images",), image_steps.inline_previews),
    Step(("lazyload_images",), image_steps.lazyload_images),
)


def steps(generation: Generation) -> tuple[Step, ...]:
    """All there are; the generations differ in the place of some."""
    early = generation.name == "2012"
    scripts = _scripts(generation)
    return (
        Step(("add_head", "combine_heads", "move_css_to_head", "move_css_above_scripts"), head.add_head),
        Step(("combine_heads",), head.combine_heads),
        Step(("inline_import_to_link",), inline.inline_import_to_link),
        Step(("move_css_to_head", "move_css_above_scripts"), move.move_css),
        Step(("combine_css",), combine.combine_css),
        Step(REWRITE_CSS, rewrite.rewrite_css),
        Step(("prioritize_critical_css",), critical.prioritize_critical_css),
        *(scripts if early else ()),
        Step(("inline_css",), inline.inline_css),
        *(() if early else scripts),
        Step(("inline_javascript",), script_steps.inline_javascript),
        Step(
            (*image_resources.FILTERS, "inline_images", "insert_img_dimensions"),
            image_steps.rewrite_images,
        ),
        Step(("remove_comments",), shorten.remove_comments),
        *((WHITESPACE,) if early else ()),
        Step(("elide_attributes",), shorten.elide_attributes),
        Step(EXTEND, extend_cache),
        *(_last_2012() if early else _last()),
    )


def _last_2012() -> tuple[Step, ...]:
    """Return what ran on the page as it was sent, in each generation."""
    return (TRIM, DEFER, QUOTES, META, *LOADING)


def _last() -> tuple[Step, ...]:
    return (DEFER, META, *LOADING, TRIM, QUOTES, WHITESPACE)


def _scripts(generation: Generation) -> tuple[Step, ...]:
    rewrite = Step(("rewrite_javascript_external", "rewrite_javascript_inline"), script_steps.rewrite_javascript)
    combine = Step(("combine_javascript",), script_steps.combine_javascript)
    return (rewrite, combine) if generation.javascript_before_combining else (combine, rewrite)
