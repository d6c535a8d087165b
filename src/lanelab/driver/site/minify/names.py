"""The filters' names, as mod_pagespeed has them, each with what it does in one line."""

FILTERS = {
    "add_head": "a page without a head gets one",
    "combine_heads": "several heads become one",
    "convert_meta_tags": "what http-equiv says of the page's type becomes its header",
    "inline_import_to_link": "a style element that holds one @import alone becomes a link",
    "move_css_to_head": "style sheets move into the head",
    "move_css_above_scripts": "style sheets move before the first script",
    "combine_css": "adjacent style sheets become one",
    "rewrite_css": "style sheets and style elements are minified",
    "flatten_css_imports": "what a style sheet imports takes the import's place",
    "fallback_rewrite_css_urls": "addresses in style sheets that cannot be parsed are rewritten all the same",
    "rewrite_style_attributes": "style attributes are minified",
    "rewrite_style_attributes_with_url": "style attributes with an address are minified",
    "prioritize_critical_css": "the page holds the rules that it uses; its style sheets load after it",
    "inline_css": "small style sheets become part of the page",
    "combine_javascript": "adjacent scripts become one",
    "rewrite_javascript_external": "script files are minified",
    "rewrite_javascript_inline": "scripts in the page are minified",
    "inline_javascript": "small script files become part of the page",
    "defer_javascript": "scripts run after the page has loaded",
    "inline_images": "small images become part of the page",
    "recompress_jpeg": "JPEG files are compressed better",
    "recompress_png": "PNG files are compressed better",
    "recompress_webp": "WebP files are compressed better",
    "convert_gif_to_png": "GIF files of one frame become PNG",
    "convert_png_to_jpeg": "PNG files that look like photographs become JPEG",
    "convert_jpeg_to_webp": "JPEG files become WebP where the browser takes it",
    "convert_to_webp_lossless": "PNG and GIF files become WebP without loss where the browser takes it",
    "convert_jpeg_to_progressive": "large JPEG files become progressive",
    "jpeg_subsampling": "JPEG files lose colour that eyes do not see",
    "strip_image_color_profile": "images lose their colour profile",
    "strip_image_meta_data": "images lose what is not picture: EXIF, comments",
    "resize_images": "images that the page shows smaller are made smaller",
    "insert_img_dimensions": "images get the width and height that they have",
    "inline_preview_images": "large images come as a small preview first",
    "lazyload_images": "images load when they come into sight",
    "sprite_images": "backgrounds in style sheets become one image",
    "remove_comments": "comments go",
    "collapse_whitespace": "runs of white space become one",
    "elide_attributes": "attributes that say the default go",
    "extend_cache_css": "style sheets that are not rewritten get a name by their content, and live a year",
    "extend_cache_images": "images likewise",
    "extend_cache_scripts": "scripts likewise",
    "trim_urls": "addresses become relative where that is shorter",
    "remove_quotes": "quotes around attributes go where they are not needed",
}

# What both generations understand as several.
ALIASES = {
    "extend_cache": ("extend_cache_css", "extend_cache_images", "extend_cache_scripts"),
    "rewrite_javascript": ("rewrite_javascript_external", "rewrite_javascript_inline"),
    "recompress_images": (
        *("recompress_jpeg", "recompress_png", "recompress_webp", "convert_gif_to_png", "convert_jpeg_to_progressive"),
        *("jpeg_subsampling", "strip_image_color_profile", "strip_image_meta_data"),
    ),
    "rewrite_images": (
        *("inline_images", "recompress_jpeg", "recompress_png", "recompress_webp", "convert_gif_to_png"),
        *("convert_png_to_jpeg", "convert_jpeg_to_webp", "convert_to_webp_lossless", "convert_jpeg_to_progressive"),
        *("jpeg_subsampling", "strip_image_color_profile", "strip_image_meta_data", "resize_images"),
    ),
}

_BOTH = frozenset(
    {
        *("add_head", "combine_css", "convert_meta_tags", *ALIASES["extend_cache"], "inline_css", "inline_images"),
        *("inline_import_to_link", "inline_javascript", "recompress_jpeg", "recompress_png", "resize_images"),
        *("rewrite_css", *ALIASES["rewrite_javascript"], "rewrite_style_attributes_with_url"),
        *("convert_gif_to_png", "strip_image_color_profile", "strip_image_meta_data"),
    }
)  # in 2012 the last line belonged to recompress_images, which had no parts yet
CORE_2012 = _BOTH
CORE = _BOTH | {
    *("combine_javascript", "convert_jpeg_to_progressive", "convert_jpeg_to_webp", "convert_png_to_jpeg"),
    *("convert_to_webp_lossless", "fallback_rewrite_css_urls", "flatten_css_imports", "jpeg_subsampling"),
    "recompress_webp",
}
