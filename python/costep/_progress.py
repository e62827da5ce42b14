"""How far a run is, in terminals and notebooks."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from typing import Any, Union

from ._errors import misuse

Tell = Callable[[float, float], object]
"""Is told the part of a run that is done, from 0 to 1, and the simulated time."""
Progress = Union[bool, None, Tell]
"""Whether a bar is shown (``None``: where somebody sees it), or who is told instead."""


class Bar:
    """A bar that appears after a moment: short runs show none."""

    patience = 0.5

    def __init__(self, start: float, stop: float) -> None:
        self.start, self.stop = start, stop
        self.began = time.monotonic()
        self.shown: Any = None

    def __call__(self, done: float, now: float) -> None:
        if time.monotonic() - self.began < self.patience:
            return
        text = f"{100 * done:3.0f} %   t {now:.4g} / {self.stop:.6g} s"
        if in_notebook():
            self._show_html(done, text)
        else:
            filled = int(20 * done)
            sys.stderr.write(f"\r[{'#' * filled}{'-' * (20 - filled)}] {text} ")
            sys.stderr.flush()
            self.shown = True

    def _show_html(self, done: float, text: str) -> None:
        shell: Any = importlib.import_module("IPython.display")
        html = shell.HTML(f'<progress value="{done:.4f}" max="1"></progress> {text}')
        if self.shown is None:
            self.shown = shell.display(html, display_id=True)
        else:
            self.shown.update(html)

    def close(self) -> None:
        """Takes the bar away."""
        if self.shown is True:
            sys.stderr.write("\r" + " " * 60 + "\r")
            sys.stderr.flush()
        elif self.shown is not None:
            shell: Any = importlib.import_module("IPython.display")
            self.shown.update(shell.HTML(""))


def in_notebook() -> bool:
    """Whether this is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    return bool(shell and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell")


def teller(progress: Progress, start: float, stop: float) -> tuple[Callable[[int, float], object] | None, Bar | None]:
    """What the extension module calls, and the bar that has to be closed."""
    if progress is None:
        progress = in_notebook() or sys.stderr.isatty()
    if isinstance(progress, bool):
        bar = Bar(start, stop) if progress else None
        tell: Tell | None = bar
    else:
        if not callable(progress):
            raise misuse(f"`progress={progress!r}` cannot be told anything", "write True, False, or a function")
        bar, tell = None, progress
    if tell is None:
        return None, None
    span = stop - start

    def told(_steps: int, now: float) -> object:
        done = (now - start) / span if span > 0 else 1.0
        return tell(min(max(done, 0.0), 1.0), now)

    return told, bar
