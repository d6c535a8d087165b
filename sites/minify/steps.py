"""The order of the filters, which is the module's, whatever the order in an experiment."""

from __future__ import annotations

from sites.minify import image_resources, image_steps, script_steps
from sites.minify.html import head, smaller
from sites.minify.wish import Generation
from sites.minify.work import Step


def steps(generation: Generation) -> tuple[Step, ...]:
    """All there are; the generations differ in the place of some."""
    whitespace = Step(("collapse_whitespace",), smaller.collapse_whitespace)
    early = generation.name == "2012"  # white space was collapsed before quotes were removed, and later after it
    return (
        Step(("add_head", "combine_heads", "move_css_to_head", "move_css_above_scripts"), head.add_head),
        Step(("combine_heads",), head.combine_heads),
        *_scripts(generation),
        Step(("inline_javascript",), script_steps.inline_javascript),
        Step(
            (*image_resources.FILTERS, "inline_images", "insert_img_dimensions"),
            image_steps.rewrite_images,
        ),
        Step(("remove_comments",), smaller.remove_comments),
        *((whitespace,) if early else ()),
        Step(("elide_attributes",), smaller.elide_attributes),
        Step(("convert_meta_tags",), head.convert_meta_tags),
        Step(("trim_urls",), smaller.trim_urls),
        Step(("defer_javascript",), script_steps.defer_javascript),
        Step(("remove_quotes",), smaller.remove_quotes),
        *(() if early else (whitespace,)),
        Step(("inline_preview_images",), image_steps.inline_previews),
        Step(("lazyload_images",), image_steps.lazyload_images),
    )


def _scripts(generation: Generation) -> tuple[Step, ...]:
    rewrite = Step(("rewrite_javascript_external", "rewrite_javascript_inline"), script_steps.rewrite_javascript)
    combine = Step(("combine_javascript",), script_steps.combine_javascript)
    return (rewrite, combine) if generation.javascript_before_combining else (combine, rewrite)
