"""Control on plain matrices: what the functions of the same names do in the language.

In:  arrays, or lists of rows.
Out: arrays. What has no answer is a `CallError` with the reason.

>>> care([[0]], [[1]], [[4]], [[1]])        # x' = u, cost 4 x^2 + u^2
array([[2.]])
>>> K, P, poles = lqr([[0]], [[1]], [[4]], [[1]])
>>> K, poles
(array([[2.]]), array([-2.+0.j]))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _paynter
from ._paynter import CallError

#: Gain, solution of Riccati's equation, poles of what is controlled or of the observer's error.
Regulation = tuple[np.ndarray, np.ndarray, np.ndarray]


def care(A: Any, B: Any, Q: Any, R: Any) -> np.ndarray:
    """The stabilising P of A'P + P A - P B inv(R) B'P + Q = 0."""
    return lqr(A, B, Q, R)[1]


def dare(A: Any, B: Any, Q: Any, R: Any) -> np.ndarray:
    """The stabilising P of P = A'P A - A'P B inv(R + B'P B) B'P A + Q.

    >>> dare([[1]], [[1]], [[1]], [[1]]).round(9)      # the golden ratio
    array([[1.61803399]])
    """
    return dlqr(A, B, Q, R)[1]


def lqr(A: Any, B: Any, Q: Any, R: Any) -> Regulation:
    """K of u = -K x that makes the integral of x'Q x + u'R u smallest, P of its cost, and the poles."""
    return _regulation(_paynter.regulate(*_plant(A, B, Q, R), False))


def dlqr(A: Any, B: Any, Q: Any, R: Any) -> Regulation:
    """K of u = -K x that makes the sum of x'Q x + u'R u over all steps smallest, P of its cost, and the poles."""
    return _regulation(_paynter.regulate(*_plant(A, B, Q, R), True))


def lqe(A: Any, C: Any, Q: Any, R: Any) -> Regulation:
    """L of the Kalman filter for noise of intensities Q at the rates and R at y = C x, its covariance and poles."""
    a, c = _square("A", A), _matrix("C", C)
    n, p = a.shape[0], c.shape[0]
    _sized("C", c, (p, n))
    q, r = _symmetric("Q", Q, n), _symmetric("R", R, p)
    return _regulation(_paynter.observe(a.tolist(), c.tolist(), q.tolist(), r.tolist()))


def lyap(A: Any, Q: Any) -> np.ndarray:
    """X of A X + X A' + Q = 0.

    >>> lyap([[-2]], [[4]])
    array([[1.]])
    """
    return _lyapunov(A, Q, False)


def dlyap(A: Any, Q: Any) -> np.ndarray:
    """X of A X A' - X + Q = 0."""
    return _lyapunov(A, Q, True)


def place(A: Any, B: Any, poles: Sequence[complex]) -> np.ndarray:
    """K such that A - B K has these poles; complex ones in pairs.

    >>> place([[0, 1], [0, 0]], [[0], [1]], [-1, -2]).round(9)
    array([[2., 3.]])
    """
    a, b = _square("A", A), _matrix("B", B)
    _sized("B", b, (a.shape[0], b.shape[1]))
    try:
        found = [complex(p) for p in poles]
    except (TypeError, ValueError):
        raise TypeError(f"poles takes a list of numbers, not {poles!r}") from None
    if not np.all(np.isfinite(found)):
        raise CallError("a pole is not a finite number")
    return np.array(_paynter.place(a.tolist(), b.tolist(), [(p.real, p.imag) for p in found]))


def expm(A: Any) -> np.ndarray:
    """The matrix exponential."""
    return np.array(_paynter.expm(_square("A", A).tolist()))


def c2d(
    A: Any, B: Any, C: Any, D: Any, step: float, method: str = "zoh", *, at_frequency: float | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """A, B, C, D in steps of so many seconds: `zoh` holds inputs, `tustin` is the trapezoidal rule."""
    if at_frequency is not None and method == "zoh":
        raise CallError('at_frequency belongs to method="tustin"')
    return _steps(A, B, C, D, step, method, at_frequency, False)


def d2c(
    A: Any, B: Any, C: Any, D: Any, step: float, method: str = "zoh"
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The continuous A, B, C, D behind those in steps of so many seconds."""
    return _steps(A, B, C, D, step, method, None, True)


def _steps(
    A: Any, B: Any, C: Any, D: Any, step: float, method: str, at_frequency: float | None, is_back: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    a, b, c, d = _square("A", A), _matrix("B", B), _matrix("C", C), _matrix("D", D)
    n, m, p = a.shape[0], b.shape[1], c.shape[0]
    for name, matrix, size in (("B", b, (n, m)), ("C", c, (p, n)), ("D", d, (p, m))):
        _sized(name, matrix, size)
    rows = (a.tolist(), b.tolist(), c.tolist(), d.tolist())
    found = _paynter.change_steps(rows, float(step), method, at_frequency, is_back)
    sizes = ((n, n), (n, m), (p, n), (p, m))
    arrays = [np.array(f, dtype=float).reshape(s) for f, s in zip(found, sizes, strict=True)]
    return arrays[0], arrays[1], arrays[2], arrays[3]


def _lyapunov(A: Any, Q: Any, in_steps: bool) -> np.ndarray:
    a = _square("A", A)
    q = _symmetric("Q", Q, a.shape[0])
    # The engine solves the dual, A'X + X A + Q = 0.
    return np.array(_paynter.lyap(a.T.tolist(), q.tolist(), in_steps))


def _plant(A: Any, B: Any, Q: Any, R: Any) -> tuple[Any, Any, Any, Any]:
    a, b = _square("A", A), _matrix("B", B)
    _sized("B", b, (a.shape[0], b.shape[1]))
    q, r = _symmetric("Q", Q, a.shape[0]), _symmetric("R", R, b.shape[1])
    return a.tolist(), b.tolist(), q.tolist(), r.tolist()


def _regulation(found: tuple[Any, Any, list[tuple[float, float]]]) -> Regulation:
    gain, cost, poles = found
    return np.array(gain), np.array(cost), np.array([complex(*p) for p in poles])


def _matrix(name: str, given: Any) -> np.ndarray:
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise TypeError(f"{name} takes rows of numbers, not {given!r}") from None
    if found.ndim != 2 or 0 in found.shape:
        raise CallError(f"{name} takes a matrix such as [[1, 2], [3, 4]], not {given!r}")
    if not np.all(np.isfinite(found)):
        raise CallError(f"{name} has an entry that is not a finite number")
    return found


def _square(name: str, given: Any) -> np.ndarray:
    found = _matrix(name, given)
    if found.shape[0] != found.shape[1]:
        raise CallError(f"{name} is {found.shape[0]} by {found.shape[1]}; it needs as many rows as columns")
    return found


def _sized(name: str, matrix: np.ndarray, size: tuple[int, int]) -> None:
    if matrix.shape != size:
        raise CallError(f"{name} is {matrix.shape[0]} by {matrix.shape[1]}; it needs {size[0]} by {size[1]}")


#: Entries of a symmetric matrix may differ by this part of the largest: roundings of how it was made.
SYMMETRIC = 1e-12


def _symmetric(name: str, given: Any, n: int) -> np.ndarray:
    found = _square(name, given)
    _sized(name, found, (n, n))
    if np.max(np.abs(found - found.T)) > SYMMETRIC * np.max(np.abs(found)):
        raise CallError(f"{name} is not symmetric")
    return found
