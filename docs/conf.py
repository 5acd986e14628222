"""Sphinx configuration. ``make docs`` builds with warnings as errors and without a network."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
# Pages of names that are gone would be left over from the last build, and fail this one.
shutil.rmtree(HERE / "reference" / "generated", ignore_errors=True)
for page in (HERE / "gallery").glob("plot_*"):  # from before examples had folders
    page.unlink()

from needed_packages import missing_packages  # noqa: E402  # found through the path above

import krein  # noqa: E402  # found through the path above

project = "krein"
author = "The krein developers"
copyright = "2025, The krein developers"
version = release = krein.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "pictures",
]
html_math_renderer = "mathml"
templates_path = ["_templates"]
exclude_patterns = [
    "_build",
    "examples",
    "gallery/**/*.md5",
    "gallery/**/sg_execution_times.rst",
    "gallery/sg_execution_times.rst",
    "sg_execution_times.rst",
]
root_doc = "index"
nitpicky = False

html_theme = "furo"
html_title = f"krein {release}"
html_baseurl = os.environ.get("READTHEDOCS_CANONICAL_URL", "")  # of a hosted site
html_static_path = ["_static"]
html_css_files = ["krein.css"]
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False

# Examples that need packages which are no part of this library's own: shown without output where those are missing.
not_run = [path.stem for path in sorted((HERE / "examples").glob("*/plot_*.py")) if missing_packages(path)]

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "image_scrapers": ("matplotlib", "figure_scraper.figure_scraper"),
    "filename_pattern": rf"/(?!{'|'.join(not_run)})plot_" if not_run else "/plot_",
    "subsection_order": [f"examples/{name}" for name in ("objects", "matrices", "tables", "kernels")],
    "within_subsection_order": "FileNameSortKey",
    "thumbnail_size": (480, 330),
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "abort_on_example_error": True,
    "matplotlib_animations": False,
    "capture_repr": (),
    "doc_module": ("krein",),
    "write_computation_times": False,
}


def escape_bars(app, what, name, obj, options, lines):
    """|x| in a docstring means an absolute value; to reStructuredText it would be a substitution."""
    for i, line in enumerate(lines):
        if "|" in line and not any(mark in line for mark in ("`", "\\", "::", ">>>", "...")):
            lines[i] = line.replace("|", "\\|")


def setup(app):
    app.connect("autodoc-process-docstring", escape_bars)
