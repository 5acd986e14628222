"""Formulas as MathML, which browsers draw themselves: pages need neither scripts nor a network.

docutils converts. What it takes differently from TeX is changed before it (fractions of single digits, sizes of brackets) and after
it (an index of a letter with an accent, spaces at the names of functions, bars and braces that must not stretch).
"""

from __future__ import annotations

import re
from html import escape
from xml.etree import ElementTree

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

LOGGER = logging.getLogger(__name__)
# Delimiters stretch by themselves: \Bigl( and \Big( are \left(, \Bigr) and \Big) are \right).
LEFT = re.compile(r"\\[bB]ig+(?:l\s*(?=\W)|(?=[(\[]))")
RIGHT = re.compile(r"\\[bB]ig+(?:r\s*(?=\W)|(?=[)\]]))")
BIG = re.compile(r"\\[bB]ig+m?(?![a-zA-Z])\s*")
FRACTION = re.compile(r"\\[dt]?frac(?![a-zA-Z])")
ARGUMENT = re.compile(r"\s*(\\[a-zA-Z]+|[^\s{}\\])")
TAG = re.compile(r"\s*\\tag\{([^{}]*)\}")
ACCENTS = {"~", "ˆ", "ˉ", "¯", "‾"}
LIMITS = {"min", "max", "sup", "inf", "lim"}
SIGNS = {"−", "±"}
BARS = {"|", "‖"}
CLOSING = {")", "]", "}", "⌉", "⌋", "!"}
FENCES = {"{", "}", "⌈", "⌉", "⌊", "⌋"}
LETTERS = {"mi", "mn", "mtext", "mrow", "mfrac", "msqrt", "msub", "msup", "msubsup", "mover", "munder", "munderover"}
ROWS = {"math", "mrow", "mtd", "mstyle", "msqrt"}
THIN = {"width": "0.1667em"}


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


def tidy_source(source: str, *, block: bool) -> str:
    """The formula in the LaTeX that docutils converts as TeX would."""
    tidy = BIG.sub("", RIGHT.sub(r"\\right", LEFT.sub(r"\\left", braced_fractions(source))))
    tidy = TAG.sub(r"\\qquad\\text{(\1)}", tidy).replace(":=", r"\coloneqq ")
    tidy = tidy.replace("…", r"\ldots ").replace(r"\dots", r"\ldots").strip()
    if block and r"\\" in tidy and r"\begin" not in tidy:
        tidy = rf"\begin{{aligned}}{tidy}\end{{aligned}}"
    return tidy


def text_of(part: ElementTree.Element) -> str:
    return (part.text or "").strip()


def is_function(part: ElementTree.Element) -> bool:
    """Whether it is the name of a function, such as cos, or one with an index or a power."""
    if part.tag in {"msub", "msup", "msubsup", "munder"}:
        return is_function(part[0])
    return part.tag in {"mi", "mo"} and len(text_of(part)) > 1 and text_of(part).isalpha()


def is_letter(part: ElementTree.Element, others: set[str]) -> bool:
    """Whether TeX leaves a thin space between it and the name of a function: not at a relation, a sign or an opening bracket."""
    return part.tag in LETTERS or (part.tag == "mo" and text_of(part) in others)


def takes_a_sign(before: ElementTree.Element) -> bool:
    """Whether a minus after it belongs to what follows, and is no difference."""
    if before.tag in {"munder", "munderover", "msub", "msubsup"}:
        return before[0].tag == "mo"
    return before.tag == "mo" and text_of(before) not in BARS | CLOSING


def mend_operator(part: ElementTree.Element, before: ElementTree.Element | None, *, outermost: bool) -> None:
    """Attributes of an operator as TeX would have it; the outermost ones of a group may come from \\left and \\right."""
    text = text_of(part)
    if text in LIMITS:
        part.attrib |= {"lspace": "0", "rspace": "0"}
    elif text in SIGNS and (before is None or takes_a_sign(before)):
        part.set("form", "prefix")
    elif text == "‖" or (text == "|" and part.get("stretchy") == "false"):
        part.attrib |= {"stretchy": "false", "lspace": "0", "rspace": "0"}
    elif text in FENCES and not outermost:
        part.set("stretchy", "false")


def mend(row: ElementTree.Element) -> None:
    """Operators, accents and thin spaces of a formula as TeX would have them."""
    parts: list[ElementTree.Element] = []
    for place, part in enumerate(row):
        mend(part)
        before = parts[-1] if parts else None
        if part.tag == "munderover" and text_of(part[2]) in ACCENTS:  # an index belongs beside the letter
            letter, index, accent = part
            part.tag, part[:] = "msub", [ElementTree.Element("mover", {"accent": "true"}), index]
            part[0].extend([letter, accent])
        elif part.tag == "mo":
            mend_operator(part, before, outermost=row.tag == "mrow" and place in (0, len(row) - 1))
        if text_of(part) == "\u2061":
            continue
        if (
            before is not None
            and row.tag in ROWS
            and (
                is_letter(before, BARS | CLOSING)
                if is_function(part)
                else is_function(before) and is_letter(part, BARS)
            )
        ):
            parts.append(ElementTree.Element("mspace", THIN))
        parts.append(part)
    row[:] = parts


def convert(source: str, *, block: bool, node: nodes.Node | None) -> str:
    """MathML of a LaTeX formula; one that cannot be converted is a warning, and is shown as it was written."""
    try:
        text = tex2mathml(tidy_source(source, block=block), as_block=block)
    except (MathError, IndexError, KeyError, ValueError) as error:
        LOGGER.warning("formula cannot be shown: %s in %s", error, source, location=node)
        return f"<code>{escape(source)}</code>"
    text = text.replace("&ApplyFunction;", "\u2061").replace('xmlns="http://www.w3.org/1998/Math/MathML"', "")
    math = ElementTree.fromstring(text)
    mend(math)
    return ElementTree.tostring(math, encoding="unicode", short_empty_elements=False)


def visit_inline(translator, node):
    translator.body.append(convert(node.astext(), block=False, node=node))
    raise nodes.SkipNode


def visit_block(translator, node):
    translator.body.append(f'<div class="math-block">{convert(node.astext(), block=True, node=node)}</div>')
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", inline_renderers=(visit_inline, None), block_renderers=(visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
