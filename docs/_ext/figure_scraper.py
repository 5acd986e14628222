"""Gallery pictures from the figures an example holds in its variables; the library never uses pyplot's current figure."""

from __future__ import annotations

from sphinx_gallery.scrapers import figure_rst


def figure_scraper(block, block_vars, gallery_conf):
    """Save every figure that is new since the last block, as sphinx-gallery asks of a scraper."""
    from matplotlib.figure import Figure

    space = block_vars["example_globals"]
    shown = space.setdefault("__figures_shown__", [])
    paths = []
    for name, value in list(space.items()):
        if isinstance(value, Figure) and not name.startswith("__") and not any(value is old for old in shown):
            shown.append(value)
            path = next(block_vars["image_path_iterator"])
            value.savefig(path, format="png", dpi=120, facecolor=value.get_facecolor())
            paths.append(path)
    return figure_rst(paths, gallery_conf["src_dir"])
