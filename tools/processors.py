"""Other processors on this one: what the libraries below can be told to pretend.

``python tools/processors.py test [SETTING ...]`` runs the whole test suite once for each setting and ends in a table of counts;
``python tools/processors.py compare`` computes the features and measures of ``benchmarks/accuracy.py`` under each setting and
prints the largest relative difference from the first. ``make test-processors`` and ``make compare-processors`` call it. Settings
without a matching processor are left out and said to be.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy._core._multiarray_umath import __cpu_baseline__, __cpu_dispatch__, __cpu_features__

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
WIDE = ("X86_V4", "AVX512")  # how the names of numpy's features beyond AVX2 begin


@dataclass(frozen=True)
class Setting:
    """A processor to pretend, and whether the data folder is at hand.

    Parameters
    ----------
    name, about : str
    environment : callable
        What to set; called late, because it asks numpy what this processor has.
    data : bool
        Whether ``KREIN_DATA`` is kept.
    needs : str
        A feature without which the setting is left out.
    """

    name: str
    about: str
    environment: Callable[[], dict[str, str]]
    data: bool = True
    needs: str = ""


def _numpy_without(wanted: Callable[[str], bool]) -> dict[str, str]:
    """Tells numpy not to use some of the features that it could."""
    off = [name for name in __cpu_dispatch__ if __cpu_features__.get(name) and wanted(name)]
    return {"NPY_DISABLE_CPU_FEATURES": " ".join(off)} if off else {}


def _is_wide(name: str) -> bool:
    return name.startswith(WIDE)


SETTINGS = (
    Setting("native", "this processor as it is", dict),
    Setting(
        "avx2",
        "no AVX-512: OpenBLAS as Haswell, numpy and numba without AVX-512",
        lambda: {"OPENBLAS_CORETYPE": "Haswell", "NUMBA_CPU_NAME": "haswell", **_numpy_without(_is_wide)},
        data=False,
    ),
    Setting(
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
    Setting("avx512", "OpenBLAS as SkylakeX", lambda: {"OPENBLAS_CORETYPE": "SkylakeX"}, needs="X86_V4"),
    Setting(
        "zen-one-thread", "OpenBLAS as Zen, one thread everywhere", lambda: {"OPENBLAS_CORETYPE": "Zen", **ONE_THREAD}
    ),
)


def settings(names: list[str]) -> list[Setting]:
    """The settings of these names, all for none, that this processor can pretend."""
    known = {setting.name: setting for setting in SETTINGS}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise SystemExit(f"unknown setting {wrong[0]!r}; known are {', '.join(known)}")
    chosen = [known[name] for name in names] if names else list(SETTINGS)
    for setting in chosen:
        if setting.needs and not __cpu_features__.get(setting.needs, False):
            sys.stdout.write(f"{setting.name}: left out, this processor has no {setting.needs}\n")
    return [setting for setting in chosen if not setting.needs or __cpu_features__.get(setting.needs, False)]


def environment(setting: Setting) -> dict[str, str]:
    """The environment of a run."""
    variables = {**os.environ, **setting.environment()}
    if not setting.data:
        variables.pop("KREIN_DATA", None)
    return variables


def test(names: list[str], arguments: list[str]) -> int:
    """Run the suite under each setting; 1 if any test failed anywhere."""
    lines, failed = [], 0
    for setting in settings(names):
        sys.stdout.write(f"== {setting.name}: {setting.about}\n")
        sys.stdout.flush()
        start = time.monotonic()
        command = [sys.executable, "-m", "pytest", "-n", "2", "-q", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=environment(setting), capture_output=True, text=True, check=False)
        counts = re.findall(r"\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed)", done.stdout.rsplit("\n", 3)[-2])
        if done.returncode:
            failed = 1
            sys.stdout.write("\n".join(done.stdout.splitlines()[-60:]) + done.stderr[-2000:] + "\n")
        lines.append(f"{setting.name:16s}{', '.join(counts):60s}{time.monotonic() - start:6.0f} s")
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
    """Print the largest relative difference of every result between the settings and the first of them."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for setting in settings(names):
            path = str(Path(folder) / f"{setting.name}.npz")
            variables = environment(setting)
            if "KREIN_DATA" in os.environ:  # data must be at hand everywhere, or there is nothing to compare
                variables["KREIN_DATA"] = os.environ["KREIN_DATA"]
            command = [sys.executable, __file__, "compute", path, str(most)]
            subprocess.run(command, cwd=ROOT, env=variables, check=True)
            paths[setting.name] = path
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
