"""Reading kernels from text: products, scaled kernels, and limits that hold against hostile text."""

from __future__ import annotations

import pytest

from krein.kernels import NTK, Cauchy, Gaussian, Kernel, Laplacian, Log, ThinPlate, parse_kernel


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        ("gaussian*ntk", Gaussian() * NTK()),
        ("2*gaussian*cauchy(2)*3", 6 * Gaussian() * Cauchy(2.0)),
        ("gaussian(2) * (gaussian(2) - cauchy)", Gaussian(2.0) * (Gaussian(2.0) - Cauchy())),
        ("scaled(thin-plate, 2)", ThinPlate().scaled(2.0)),
        ("Scaled(kernel=ThinPlate(), scale=2.0) * Log(c=1.0)", ThinPlate().scaled(2.0) * Log()),
        ("scaled(gaussian - 2*cauchy(3), 1/2)", Gaussian(0.5) - 2 * Cauchy(1.5)),
        ("scaled(scale=3, kernel=laplacian)", Laplacian(3.0)),
        ("gaussian / 2 * 4", 2 * Gaussian()),
        ("--gaussian", Gaussian()),
        ("-+-(-gaussian)", -Gaussian()),
        ("2*3/6*gaussian(2*3)", Gaussian(6.0)),
        ("ntk(2*2,)", NTK(4)),
        ("Delta_Gaussian-Cauchy", parse_kernel("delta-gaussian") - Cauchy()),
    ],
)
def test_text(text: str, kernel: Kernel) -> None:
    assert parse_kernel(text) == kernel


@pytest.mark.parametrize(
    "text",
    [
        *("scaled", "scaled()", "scaled(2)", "scaled(2, 3)", "scaled(gaussian)", "scaled(gaussian, 0)"),
        *("scaled(ntk, 2)", "scaled(gaussian, cauchy)", "scaled(thin-plate, 2, 3)", "2gaussian", "gaussian gaussian"),
        *(
            "gaussian)",
            "gaussian(",
            "gaussian(,)",
            "gaussian(scale=1, 2)",
            "gaussian(scale=1, scale=2)",
            "gaussian - 1",
        ),
        *("1/gaussian", "gaussian(True)", "True", "gaussian(scale)", "gaussian\x00", "1e400*gaussian", "ntk(1e3)"),
        *("gaussian*", "/gaussian", "()", "gaussian/gaussian", "ntk(99999999999999999999)", "matern(1)(2)", "², ntk"),
    ],
)
def test_text_that_is_no_kernel(text: str) -> None:
    with pytest.raises(ValueError, match=r"known kernels|cannot build|must be|a chord has no scale"):
        parse_kernel(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-" * 100_000 + "gaussian", "at most 100,000 are read"),
        ("-" * 99_000 + "gaussian", "cannot read"),
        ("(" * 50_000 + "gaussian", "cannot read"),
        ("(" * 1_000 + "gaussian" + ")" * 1_000, "cannot read"),
        ("scaled(" * 5_000 + "gaussian", "cannot read"),
        ("gaussian(" * 5_000, "cannot read"),
        ("*".join(f"(log({i}) + cauchy({i}))" for i in range(1, 60)), "more than 1024"),
        ("log*" * 100 + "log", "at most 64 factors"),
        ("log*" * 20_000 + "log", "cannot read"),
        ("9" * 90_000 + "*gaussian", "cannot read"),
        ("9" * 4_000 + "*gaussian", "finite"),
        ("9999999999*" * 900 + "gaussian", "finite"),
        ("gaussian(" + "9" * 4_000 + ")", "finite"),
        ("x" * 90_000, "unknown kernel"),
        ("." * 90_000, "cannot read"),
        ("gaussian" + " " * 90_000 + "(", "cannot read"),
    ],
)
def test_hostile_text_is_refused_in_few_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        parse_kernel(text)
    assert len(str(caught.value)) < 1000


def test_long_text_is_read() -> None:
    assert parse_kernel("-" * 100 + "(" * 50 + "gaussian" + ")" * 50) == Gaussian()
    total = parse_kernel(" + ".join(f"2.5*gaussian({i}.25)" for i in range(300)))
    assert len(total.terms()) == 300
    assert parse_kernel(repr(total)) == total


def test_only_strings_are_read() -> None:
    with pytest.raises(TypeError, match="from a string"):
        parse_kernel(3)
