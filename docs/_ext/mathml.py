"""Formulas as MathML, which browsers draw themselves: pages need neither scripts nor a network."""

from __future__ import annotations

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# Delimiters stretch by themselves, and \tilde k_x must not put x under the k.
LEFT, RIGHT = re.compile(r"\\[bB]ig+l(?![a-zA-Z])"), re.compile(r"\\[bB]ig+r(?![a-zA-Z])")
BIG = re.compile(r"\\(?:[bB]ig+[lrm]?)(?![a-zA-Z])\s*")
FRACTION = re.compile(r"\\[dt]?frac(?![a-zA-Z])")
ARGUMENT = re.compile(r"\s*(\\[a-zA-Z]+|[^\s{}\\])")
ACCENT = re.compile(r"\\(tilde|hat|bar)\s+([a-zA-Z]|\\[a-zA-Z]+)")


def braced_fractions(source: str) -> str:
    r"""Fractions with braces: ``\tfrac12 H`` is one half times H, which the converter takes for twelve."""
    parts, place = [], 0
    for found in FRACTION.finditer(source):
        if found.start() < place:
            continue
        parts.append(source[place : found.end()])
        place = found.end()
        for _ in range(2):
            single = ARGUMENT.match(source, place)
            if single:
                parts.append(f"{{{single[1]}}}")
                place = single.end()
                continue
            end = closing_brace(source, place)
            parts.append(f"{{{braced_fractions(source[source.index('{', place) + 1 : end])}}}")
            place = end + 1
    return "".join([*parts, source[place:]])


def closing_brace(source: str, place: int) -> int:
    """Where the group that begins next ends."""
    depth = 0
    for i in range(source.index("{", place), len(source)):
        depth += {"{": 1, "}": -1}.get(source[i], 0) if source[i - 1] != "\\" else 0
        if not depth:
            return i
    raise ValueError(f"a brace is not closed in {source}")


def convert(source: str, *, block: bool, node: nodes.Node) -> str:
    """MathML of a LaTeX formula; one that cannot be converted is a warning, and is shown as it was written."""
    source = RIGHT.sub(r"\\right", LEFT.sub(r"\\left", braced_fractions(source)))
    tidy = ACCENT.sub(r"{\\\1{\2}}", BIG.sub("", source)).replace("…", r"\ldots ").strip()
    if block and r"\\" in tidy and r"\begin" not in tidy:
        tidy = rf"\begin{{aligned}}{tidy}\end{{aligned}}"
    try:
        return tex2mathml(tidy, as_block=block)
    except (MathError, IndexError, KeyError) as error:
        LOGGER.warning("formula cannot be shown: %s in %s", error, source, location=node)
        return f"<code>{escape(source)}</code>"


def visit_inline(translator, node):
    translator.body.append(convert(node.astext(), block=False, node=node))
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(f'<div class="math-block">{convert(node.astext(), block=True, node=node)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
