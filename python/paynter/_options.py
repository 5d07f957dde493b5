"""Options of calls: keywords that are checked, names, times, counts, shares, paths.

In:  what the caller gave.
Out: what the engine takes, or an exception that says what is wrong with it.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np

from . import _paynter
from ._paynter import CallError
from ._values import is_quantity, refuse_unknown, si_quantity

F = TypeVar("F", bound=Callable[..., Any])


def options(call: F) -> F:
    """Answers an unknown keyword with the nearest one there is."""
    parameters = [p for p in inspect.signature(call).parameters.values() if p.name != "self"]
    known = {p.name for p in parameters}

    @functools.wraps(call)
    def checked(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not known.issuperset(kwargs):
            unknown = {k: v for k, v in kwargs.items() if k not in known}
            refuse_unknown(call.__name__, unknown, [p.name for p in parameters])
        return call(self, *args, **kwargs)

    return checked  # type: ignore[return-value]


def names_text(option: str, names: str | Sequence[str] | None) -> str | None:
    if names is None or isinstance(names, str):
        return names
    try:
        names = list(names)
    except TypeError:
        raise TypeError(f"{option} takes a name or a list of names, not {names!r}") from None
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{option} takes names, not {name!r}")
    return ", ".join(names)


def seconds(option: str, value: Any) -> float | None:
    """A time: a number in s, a text such as "20 [ms]", or a pint quantity."""
    if value is None:
        return None
    if is_quantity(value):
        number, unit = si_quantity(value)
        if unit != "s":
            raise CallError(f"{option} takes a time, not {value}")
        return float(number)
    if isinstance(value, str) and "[" in value:
        return _paynter.seconds(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f'{option} takes a number in s or a text such as "20 [ms]", not {value!r}') from None


def time_list(times: Any) -> list[float] | None:
    if times is None:
        return None
    if is_quantity(times):
        times, unit = si_quantity(times)
        if unit != "s":
            raise CallError(f"times takes times, not values in {unit or 'no unit'}")
    array = np.asarray(times)
    if array.ndim == 1 and array.dtype.kind == "U":
        return [seconds("times", str(t)) or 0.0 for t in array]
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise TypeError(f"times takes a list of numbers in s, not {times!r}")
    return [float(t) for t in array]


def count(option: str, value: Any, low: int, high: int | None = None) -> int:
    is_count = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    limit = f"from {low} to {high}" if high is not None else f"not below {low}"
    if not is_count or value < low or (high is not None and value > high):
        raise CallError(f"{option} takes a whole number {limit}, not {value!r}")
    return int(value)


def share(option: str, value: Any) -> float:
    """A part of one: 0.99, or "99%"."""
    text = value.strip().removesuffix("%") if isinstance(value, str) else value
    try:
        number = float(text)
    except (TypeError, ValueError):
        raise CallError(f'{option} takes a part such as 0.99 or "99%", not {value!r}') from None
    return number / 100 if isinstance(value, str) and value.strip().endswith("%") else number


def path_text(path: Any, usual: str) -> str:
    if path is None:
        if os.path.exists(usual):
            raise CallError(f"{usual} already exists; name the file to write")
        return usual
    try:
        return os.fsdecode(path)
    except TypeError:
        raise TypeError(f"a path is a text, not {type(path).__name__}") from None


@contextlib.contextmanager
def kept(wrap: Callable[[Any], Any]) -> Iterator[None]:
    """What was found before a search ended reaches the caller in the exception, as if it had ended well."""
    try:
        yield
    except (_paynter.RunError, _paynter.Interrupted) as error:
        if hasattr(error, "result"):
            error.result = wrap(error.result)
        raise


def texts(option: str, given: str | Sequence[str] | None) -> list[str]:
    """Texts of an option that may be given several times."""
    if given is None:
        return []
    found = [given] if isinstance(given, str) else list(given)
    for text in found:
        if not isinstance(text, str):
            raise TypeError(f"{option} takes texts, not {text!r}")
    return found


def number(option: str, value: Any) -> float | None:
    """A finite number, if one is given."""
    if value is None:
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{option} takes a number, not {value!r}") from None
    if not np.isfinite(found):
        raise CallError(f"{option} takes a finite number, not {value!r}")
    return found
