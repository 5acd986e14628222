"""The test suite under other conditions: other processors, moved last bits, other seeds, another order, a busy machine.

``python tools/conditions.py test [CONDITION ...]`` runs the whole suite once for each condition and ends in a table of counts;
``--pytest "tests/measures -x"`` runs a part. ``python tools/conditions.py compare`` computes the features and measures of
``benchmarks/accuracy.py`` on each processor that this one can pretend to be and prints the largest relative differences from
the first. ``make test-conditions``, ``test-processors``, ``test-perturbed``, ``test-seeds``, ``test-loaded`` and
``compare-processors`` call it.
Conditions without a matching processor are left out and said to be.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy._core._multiarray_umath import __cpu_baseline__, __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
WIDE = ("X86_V4", "AVX512")  # how the names of numpy's features beyond AVX2 begin


@dataclass(frozen=True)
class Condition:
    """Under which the suite runs.

    Parameters
    ----------
    name, about : str
    environment : callable
        What to set; called late, because it asks numpy what this processor has.
    data : bool
        Whether ``KREIN_DATA`` is kept.
    needs : str
        A feature of the processor without which the condition is left out.
    arguments : tuple of str
        More for pytest.
    busy : bool
        On one processor, with two other programs that never rest beside it.
    """

    name: str
    about: str
    environment: Callable[[], dict[str, str]] = dict
    data: bool = True
    needs: str = ""
    arguments: tuple[str, ...] = ()
    busy: bool = False


def _numpy_without(wanted: Callable[[str], bool]) -> dict[str, str]:
    """Tells numpy not to use some of the features that it could."""
    off = [name for name in __cpu_dispatch__ if __cpu_features__.get(name) and wanted(name)]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(off)} if off else {}


def _is_wide(name: str) -> bool:
    return name.startswith(WIDE)


def _perturbed(seed: int) -> Condition:
    def variables() -> dict[str, str]:
        path = os.pathsep.join(filter(None, [str(ROOT / "tests"), os.environ.get("PYTHONPATH")]))
        return {"PYTHONPATH": path, "KREIN_PERTURBED": str(seed)}

    about = f"the last bits of products, solves and eigenproblems moved, seed {seed}"
    return Condition(f"perturbed-{seed}", about, variables, arguments=("-p", "perturbed"))


def _seeded(seed: int) -> Condition:
    return Condition(f"seed-{seed}", "other data in every test that draws some", lambda: {"KREIN_TEST_SEED": str(seed)})


PROCESSORS = (
    Condition("native", "this processor as it is"),
    Condition(
        "avx2",
        "no AVX-512: OpenBLAS as Haswell, numpy and numba without AVX-512",
        lambda: {"OPENBLAS_CORETYPE": "Haswell", "NUMBA_CPU_NAME": "haswell", **_numpy_without(_is_wide)},
        data=False,
    ),
    Condition(
        "oldest",
        "neither AVX nor FMA: OpenBLAS as Prescott, numpy at its baseline, numba for a generic processor",
        lambda: {
            "OPENBLAS_CORETYPE": "Prescott",
            "NUMBA_CPU_NAME": "generic",
            "NUMBA_CPU_FEATURES": "",
            **_numpy_without(lambda name: name not in __cpu_baseline__),
        },
        data=False,
    ),
    Condition("avx512", "OpenBLAS as SkylakeX", lambda: {"OPENBLAS_CORETYPE": "SkylakeX"}, needs="X86_V4"),
    Condition(
        "zen-one-thread", "OpenBLAS as Zen, one thread everywhere", lambda: {"OPENBLAS_CORETYPE": "Zen", **ONE_THREAD}
    ),
)
CONDITIONS = (
    *PROCESSORS,
    Condition("one-thread", "one thread everywhere", lambda: ONE_THREAD),
    *map(_perturbed, range(5)),
    *map(_seeded, range(1, 11)),
    Condition(
        "loaded",
        "random order, random hashes, one processor and two busy loops beside",
        lambda: {"KREIN_TEST_ORDER": str(time.time_ns() % 10_000), "PYTHONHASHSEED": "random"},
        busy=True,
    ),
)


def conditions(names: list[str], usual: tuple[Condition, ...]) -> list[Condition]:
    """The conditions of these names, the usual ones for none, that this processor can pretend."""
    known = {one.name: one for one in CONDITIONS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise SystemExit(f"unknown condition {wrong[0]!r}; known are {', '.join(known)}")
    chosen = [known[name] for name in names] if names else list(usual)
    for one in chosen:
        if one.needs and not __cpu_features__.get(one.needs, False):
            sys.stdout.write(f"{one.name}: left out, this processor has no {one.needs}\n")
    return [one for one in chosen if not one.needs or __cpu_features__.get(one.needs, False)]


def environment(condition: Condition) -> dict[str, str]:
    """The environment of a run."""
    variables = {**os.environ, **condition.environment()}
    if not condition.data:
        variables.pop("KREIN_DATA", None)
    return variables


@contextlib.contextmanager
def beside(busy: bool) -> Iterator[None]:
    """Two programs that never rest, on the one processor that is left to this one and its children."""
    if not busy:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(before)})
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
        os.sched_setaffinity(0, before)


def test(names: list[str], arguments: list[str]) -> int:
    """Run the suite under each condition; 1 if any test failed anywhere."""
    lines, failed = [], 0
    for condition in conditions(names, PROCESSORS):
        variables = environment(condition)
        order = variables.get("KREIN_TEST_ORDER", "")
        sys.stdout.write(f"== {condition.name}: {condition.about}{order and f', KREIN_TEST_ORDER={order}'}\n")
        sys.stdout.flush()
        start = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-n", "2", "-q", *condition.arguments, *arguments]
        with beside(condition.busy):
            done = subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, check=False)
        counts = re.findall(r"\d+ (?:passed|failed|errors?|skipped|deselected|xfailed|xpassed)", done.stdout[-300:])
        if done.returncode:
            failed = 1
            sys.stdout.write("\n".join(done.stdout.splitlines()[-60:]) + done.stderr[-2000:] + "\n")
        lines.append(f"{condition.name:16s}{', '.join(counts):60s}{time.monotonic() - start:6.0f} s")
        sys.stdout.write(lines[-1] + "\n")
        sys.stdout.flush()
    sys.stdout.write("\n" + "\n".join(lines) + "\n")
    return failed


def compute(path: str, most: int) -> None:
    """Measures, approximate kernel matrices and errors of the accuracy benchmark at one seed, into one file."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import accuracy
    import krein

    found: dict[str, np.ndarray] = {}
    for number, case in enumerate(accuracy.CASES):
        try:
            train, new = accuracy.rows(case.data, case.raw, most)
        except krein.datasets.DatasetError as error:
            sys.stderr.write(f"{case.data} left out: {error}\n")
            continue
        f = krein.SignedFourierFeatures(case.kernel, case.width, weights=case.weights, random_state=0).fit(train)
        label = f"{number:02d} {case.data}{' raw' if case.raw else ''} {case.kernel!r} {case.width} {case.weights}"
        found[f"{label}|kernel matrix"] = f.approximate(new)
        found[f"{label}|mass and bias"] = np.array([f.measure_.mass, f.measure_.bias])
        found[f"{label}|error"] = np.linalg.norm(found[f"{label}|kernel matrix"] - case.kernel(new), keepdims=True)
    np.savez(path, **found)


def compare(names: list[str], most: int) -> int:
    """Print the largest relative difference of every result between the conditions and the first of them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for condition in conditions(names, PROCESSORS):
            path = str(Path(folder) / f"{condition.name}.npz")
            variables = environment(condition)
            if "KREIN_DATA" in os.environ:  # data must be at hand everywhere, or there is nothing to compare
                variables["KREIN_DATA"] = os.environ["KREIN_DATA"]
            command = [sys.executable, __file__, "compute", path, str(most)]
            subprocess.run(command, cwd=ROOT, env=variables, check=True)
            paths[condition.name] = path
        first, *others = paths
        with np.load(paths[first]) as reference:
            exact = {key: reference[key] for key in reference.files}
        width = max(map(len, exact))
        sys.stdout.write(
            f"{'largest relative difference from ' + first:{width}s}" + "".join(f"{o:>16s}" for o in others) + "\n"
        )
        found = {name: dict(np.load(paths[name])) for name in others}
        for key, value in exact.items():
            scale = float(np.linalg.norm(value)) or 1.0
            gaps = (float(np.linalg.norm(found[name][key] - value)) / scale for name in others)
            sys.stdout.write(f"{key:{width}s}" + "".join(f"{gap:16.1e}" for gap in gaps) + "\n")
    return 0


def main() -> int:
    """Parse the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    tested = commands.add_parser("test")
    tested.add_argument("names", nargs="*")
    tested.add_argument("--pytest", default="", help="arguments for pytest, such as 'tests/measures -x'")
    compared = commands.add_parser("compare")
    compared.add_argument("names", nargs="*")
    compared.add_argument("--rows", type=int, default=20_000)
    computed = commands.add_parser("compute")
    computed.add_argument("path")
    computed.add_argument("rows", type=int)
    options = parser.parse_args()
    if options.command == "test":
        return test(options.names, options.pytest.split())
    if options.command == "compare":
        return compare(options.names, options.rows)
    compute(options.path, options.rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
