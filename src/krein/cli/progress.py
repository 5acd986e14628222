"""Progress of a command that reads a file several times and tries kernels."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from krein._core.progress import ShowProgress, progress
from krein.learning.tuning import OnTrial

__all__ = ["reading_progress", "training_progress"]


@contextmanager
def reading_progress(title: str, *, passes: int, show: bool) -> Iterator[Callable[[float], None]]:
    """A bar over several passes of a file."""
    if not show:
        yield lambda share: None
        return
    with progress("passes", passes, title=title, unit="share", lines=False) as bar:
        yield _pass_counter(bar, passes)


@contextmanager
def training_progress(*, passes: int, show: bool) -> Iterator[tuple[Callable[[float], None], OnTrial]]:
    """A bar over the passes of a file, and one over the kernels that are tried as soon as there is one."""
    tried: ShowProgress | None = None

    def on_trial(done: int, total: int, family: str) -> None:
        nonlocal tried
        if show:
            tried = tried or bars.enter_context(progress("kernels", total, lines=False))
            tried(done, total, f"tried {family}")

    with reading_progress("reading", passes=passes, show=show) as on_share, ExitStack() as bars:
        yield on_share, on_trial


def _pass_counter(bar: ShowProgress, passes: int) -> Callable[[float], None]:
    done, last = 0, 0.0

    def step(share: float) -> None:
        nonlocal done, last
        if share < last:  # the file is being read again
            done += 1
        last = share
        bar(min(passes, done + share))

    return step
