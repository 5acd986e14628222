"""Formulas of the pages: each is converted, keeps its symbols and its structure, and has TeX's spaces."""

from __future__ import annotations

import ast
import importlib
import re
import unicodedata
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest

pytest.importorskip("sphinx")

TOP = Path(__file__).resolve().parents[1]
DOCS = TOP / "docs"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the user guide is not part of this installation")

_INLINE = re.compile(r":math:`([^`]+)`")
_BLOCK = re.compile(r"^( *)\.\. math::(.*)\n((?:(?:\1 +.*)?\n)*)", re.MULTILINE)
_SYMBOLS = {  # of commands, Greek letters apart
    **{"cdot": "⋅", "pm": "±", "le": "≤", "ge": "≥", "approx": "≈", "sim": "∼", "in": "∈", "infty": "∞", "times": "×"},
    **{
        "otimes": "⊗",
        "propto": "∝",
        "mapsto": "↦",
        "to": "→",
        "sum": "∑",
        "int": "∫",
        "prod": "∏",
        "nabla": "∇",
        "ell": "ℓ",
    },
    **{"top": "⊤", "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "ldots": "…", "dots": "…", "phi": "ϕ"},
    **{"odot": "⊙", "langle": "⟨", "rangle": "⟩", "varepsilon": "ε", "binom": "()", "bmod": "mod"},
    **{"varphi": "φ", "epsilon": "ϵ", "tilde": "~", "hat": "ˆ", "bar": "ˉ", "|": "‖", "{": "{", "}": "}", "Vert": "‖"},
}
_LAYOUT = r"[td]?frac|sqrt|left|right|[bB]igg?[lrm]?|q?quad|math(?:rm|cal|bb)|text|operatorname"


@pytest.fixture(scope="module")
def convert():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(DOCS / "_ext"))
        yield importlib.import_module("mathml").convert


def formulas() -> list[tuple[str, bool]]:
    """Formulas of pages and docstrings, and whether they stand in a line of their own."""
    texts = [page.read_text(encoding="utf-8") for page in DOCS.glob("*/*.rst") if "gallery" not in page.parts]
    for source in (TOP / "src").rglob("*.py"):
        tree = ast.parse(source.read_text(encoding="utf-8"))
        owners = (ast.Module, ast.ClassDef, ast.FunctionDef)
        texts += [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, owners)]
    found = {(formula, False) for text in texts for formula in _INLINE.findall(text)}
    for text in texts:
        for _, first, rest in _BLOCK.findall(text):
            found |= {(part.strip(), True) for part in f"{first}\n{rest}".split("\n\n") if part.strip()}
    return sorted(found)


def symbols_of_source(source: str) -> Counter[str]:
    """Letters, digits and signs of a formula in LaTeX."""
    source = source.replace(r"\\", " ").replace(":=", "≔")
    source = re.sub(r"\\(begin|end)\{\w+\}", " ", source)
    source = re.sub(r"\\tag\{(\w+)\}", r"(\1)", source)
    source = re.sub(rf"\\(?:{_LAYOUT})(?![a-zA-Z])|\\[,; ]|&", " ", source)
    text = ""
    for command, plain in re.findall(r"\\([a-zA-Z]+|[|{}])|([^\\{}_^\s])", source):
        text += plain.replace("-", "−") or symbol_of(command)
    return Counter(text)


def symbol_of(command: str) -> str:
    if command in _SYMBOLS:
        return _SYMBOLS[command]
    kind = "CAPITAL" if command[0].isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"GREEK {kind} LETTER {command.upper().replace('LAMBDA', 'LAMDA')}")
    except KeyError:
        return command  # the name of a function


def symbols_shown(math: ElementTree.Element) -> Counter[str]:
    text = "".join(part.text or "" for part in math.iter())
    # ℋ is H, ℝ is R; φ and ϕ are two letters.
    plain = "".join(char if char in "ϕϵ≔…ℓ" else unicodedata.normalize("NFKC", char) for char in text)
    return Counter("".join(plain.replace("∶", ":").replace("·", "⋅").split()))


def test_every_formula_keeps_its_symbols_and_its_structure(convert):
    found = formulas()
    assert len(found) > 300
    wrong = []
    for source, block in found:
        shown = convert(source, block=block, node=None)
        if not shown.startswith("<math"):
            wrong.append((source, "not converted"))
            continue
        math = ElementTree.fromstring(shown)
        tags = Counter(part.tag for part in math.iter())
        plain = re.sub(r"\\[{}|]", "", source)
        scripts = sum(tags[tag] for tag in ("msub", "msup", "munder", "mover"))
        scripts += 2 * sum(tags[tag] for tag in ("msubsup", "munderover"))
        counts = {
            "fractions": (tags["mfrac"], len(re.findall(r"\\[dt]?frac(?![a-z])|\\binom", source))),
            "roots": (tags["msqrt"], source.count(r"\sqrt")),
            "indices": (scripts, len(re.findall(r"[_^]|\\(?:tilde|hat|bar)(?![a-z])", plain))),
            "symbols": (symbols_shown(math), symbols_of_source(source)),
        }
        wrong += [(source, what, *pair) for what, pair in counts.items() if pair[0] != pair[1]]
    assert not wrong, "\n".join(map(str, wrong))


def skeleton(part: ElementTree.Element) -> str:
    """An element in a line: `frac(1 2)`."""
    inner = " ".join(filter(None, (skeleton(child) for child in part)))
    text = (part.text or "").strip()
    if part.tag == "mspace":
        return "_" if part.get("width") == "0.1667em" else "__"
    if part.tag in {"mi", "mn", "mo", "mtext"}:
        return text
    return inner if part.tag in {"math", "mstyle"} else f"{part.tag.removeprefix('m')}({inner})"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (r"-\tfrac12 H D^2 H", "− frac(1 2) H sup(D 2) H"),
        (r"\frac1{34}", "frac(1 34)"),
        (r"\frac{x}2 y", "frac(x 2) y"),
        (r"\frac{\tfrac12 a}{b^{2}} c", "frac(row(frac(1 2) a) sup(b 2)) c"),
        (r"\tilde k_x", "sub(over(k ~) x)"),
        (r"\tilde{x}_i^2", "sup(sub(over(x ~) i) 2)"),
        (r"\|x\|^2", "‖ x sup(‖ 2)"),
        (r"E\cos\theta", "E _ cos _ θ"),
        (r"\log_4 B", "sub(log 4) _ B"),
        (r"O(D\log d)", "O ( D _ log _ d )"),
        (r"= \max(0, x)", "= max ( 0 , x )"),
        (r"\Bigl(\frac ab\Bigr)^2", "sup(row(( frac(a b) )) 2)"),
        (r"\Big[\frac ab\Big]", "row([ frac(a b) ])"),
        (r"x_0, \dots, x_d \tag{1}", "sub(x 0) , … , sub(x d) __ (1)"),
        (r"k := 2", "k ≔ 2"),
        (r"\mathcal F S", "ℱ S"),
    ],
)
def test_a_form_that_occurs(source, expected, convert):
    assert skeleton(ElementTree.fromstring(convert(source, block=False, node=None))) == expected


def test_bars_stay_as_high_as_letters_and_a_sign_is_no_difference(convert):
    math = ElementTree.fromstring(convert(r"|\mu| = \pm\|x\|^2 + \{\sum_i -s_i\}", block=True, node=None))
    operators = [(part.text.strip(), part.attrib) for part in math.iter("mo")]
    assert all(look["stretchy"] == "false" for text, look in operators if text in "|‖{}")
    assert all(look["lspace"] == look["rspace"] == "0" for text, look in operators if text in "|‖")
    assert all(look["form"] == "prefix" for text, look in operators if text in "±−")


def test_an_unknown_command_is_a_warning(convert, monkeypatch):
    warnings = []
    monkeypatch.setattr("mathml.LOGGER.warning", lambda *words, location: warnings.append(words))
    assert convert(r"\nonesuch x", block=False, node=None) == r"<code>\nonesuch x</code>"
    assert len(warnings) == 1
