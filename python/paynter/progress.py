"""Progress bars: a text on a terminal, a bar in a notebook.

In:  what the caller said (`True`, `False`, a function, or nothing), and how far the work is.
Out: a call for the engine, or none.

Nothing said means: in a notebook a bar is shown once the work has taken a second, elsewhere none.
"""

from __future__ import annotations

import html
import sys
import time
from collections.abc import Callable
from typing import Any

#: In a notebook, work that takes longer than this shows its bar, s.
PATIENCE = 1.0


def in_notebook() -> bool:
    """Tells whether a notebook shows what is displayed."""
    ipython = sys.modules.get("IPython")
    shell = getattr(ipython, "get_ipython", lambda: None)() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


class Bar:
    """A bar while a block runs: ``with Bar(progress) as call``."""

    def __init__(self, progress: Any) -> None:
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError(f"progress takes a function, True or False, not {progress!r}")
        self._asked = progress
        self._in_notebook = progress in (None, True) and in_notebook()
        self._begin = time.monotonic()
        self._shown: Any = None

    def __enter__(self) -> Callable[..., Any] | None:
        if self._asked is True or (self._asked is None and self._in_notebook):
            return self._tell
        return self._asked or None

    def _tell(self, done: float, best: tuple[float, bool] | None = None) -> None:
        """With the share that is done, or with the number of runs and the best value of a search."""
        if self._asked is None and time.monotonic() - self._begin < PATIENCE:
            return
        share, words = (done, f"{100 * done:.0f} %") if isinstance(done, float) else (None, f"{done} runs")
        if best is not None:
            words += f", best so far {best[0]:.6g}" + ("" if best[1] else ", not feasible yet")
        if self._in_notebook:
            self._display(share, words)
        else:
            self._print(share, words)

    def _print(self, share: float | None, words: str) -> None:
        width = 40
        n = min(width, max(0, round((share or 0) * width)))
        bar = f"[{'█' * n}{'·' * (width - n)}] " if share is not None else ""
        self._shown = max(self._shown or 0, len(bar + words))
        print(f"\r{bar}{words:<{self._shown - len(bar)}}", end="", file=sys.stderr, flush=True)

    def _display(self, share: float | None, words: str) -> None:
        value = "" if share is None else f' value="{share:.3f}"'
        page = f'<progress max="1"{value} style="width:60%"></progress> {html.escape(words)}'
        self._send({"text/html": page, "text/plain": words})

    def _send(self, data: dict[str, str]) -> None:
        import importlib

        display = importlib.import_module("IPython.display").display
        # A notebook that is run again and compared knows by this what is no output of its own.
        metadata = {"paynter": "progress"}
        if self._shown is None:
            self._shown = display(data, metadata=metadata, raw=True, display_id=True)
        else:
            self._shown.update(data, metadata=metadata, raw=True)

    def __exit__(self, *error: Any) -> None:
        if self._shown is None:
            return
        if self._in_notebook:
            self._send({"text/html": "", "text/plain": ""})
        else:
            print("\r" + " " * self._shown + "\r", end="", file=sys.stderr, flush=True)
