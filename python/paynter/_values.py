"""Values as the language writes them, and keywords that are checked.

In:  numbers, texts with units, pint quantities, lists.
Out: the text that the engine reads. Numbers keep every bit.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ._paynter import CallError

#: A value for a parameter: a number in SI units, a text as in the language ("5 [mm]"), or a pint quantity.
Value = Any


def value_text(value: Value) -> str:
    """Writes a value as the language does.

    >>> value_text(0.1), value_text("5 [mm]"), value_text([1, 2])
    ('0.1', '5 [mm]', '[1.0, 2.0]')
    """
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if is_quantity(value):
        return _quantity_text(value)
    if isinstance(value, (int, float, np.integer, np.floating)):
        return _number_text(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return value_text(value.item())
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return "[" + "; ".join(", ".join(map(value_text, row)) for row in value) + "]"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(value_text(v) for v in value) + "]"
    raise TypeError(
        f"{value!r} is not a value: use a number in SI units, a text with its unit such as "
        f"'5 [mm]', or a pint quantity"
    )


_UNIT = re.compile(r"(?P<name>.*\S)\s*\[(?P<unit>[^\[\]]*)\]\Z", re.S)


def split_unit(name: str) -> tuple[str, str]:
    """Splits a name from the unit behind it; an index is no unit.

    >>> split_unit("R1 [kohm]"), split_unit("arm[2]"), split_unit("R1")
    (('R1', 'kohm'), ('arm[2]', ''), ('R1', ''))
    """
    if not isinstance(name, str):
        raise TypeError(f"the name of a parameter is a text, not {name!r}")
    found = _UNIT.match(name)
    if found is None or found["unit"].strip().isdecimal():
        return name, ""
    return found["name"], found["unit"].strip()


def is_quantity(value: Any) -> bool:
    """Tells a pint quantity from other values, without importing pint."""
    return hasattr(value, "magnitude") and hasattr(value, "to_base_units")


def si_number(value: Any) -> float | None:
    """The number of a plain number; none for anything else."""
    if isinstance(value, (bool, np.bool_, str)) or is_quantity(value):
        return None
    if isinstance(value, (int, float, np.integer, np.floating)):
        return float(value)
    return None


def _number_text(value: Any) -> str:
    number = float(value)
    if not math.isfinite(number):
        raise CallError(f"{number} is not a finite number")
    return repr(number)


#: Units of the SI as pint names them, and as the language writes them.
_SI = {
    "meter": "m",
    "kilogram": "kg",
    "second": "s",
    "ampere": "A",
    "kelvin": "K",
    "mole": "mol",
    "radian": "rad",
    "candela": "cd",
}


def _quantity_text(value: Any) -> str:
    if np.ndim(value.magnitude) != 0:
        raise CallError(f"a quantity with several numbers is no single value: {value}")
    number, unit = si_quantity(value)
    text = _number_text(number)
    return f"{text} [{unit}]" if unit else text


def si_quantity(value: Any) -> tuple[Any, str]:
    """The numbers of a pint quantity in SI units, and their unit as the language writes it."""
    base = value.to_base_units()
    # pint's base units depend on the registry: the gram of a cgs one would be read as a name of ours.
    units = []
    for name, power in base.unit_items():
        if name not in _SI:
            raise CallError(f"the unit {name!r} of {value} is not an SI unit")
        whole = int(power)
        if whole != power:
            raise CallError(f"{value} has a unit with the power {power}, which cannot be written")
        units.append(_SI[name] if whole == 1 else f"{_SI[name]}^{whole}")
    return base.magnitude, "*".join(units)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The ending of a message about an unknown name.

    >>> did_you_mean("engin", ["engine", "times"])
    "; did you mean 'engine'?"
    """
    near = difflib.get_close_matches(str(name), [str(k) for k in known], 1, 0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def refuse_unknown(call: str, unknown: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raises for keywords that a call does not have."""
    known = list(known)
    for name in unknown:
        hint = did_you_mean(name, known) or f"; it takes {', '.join(known)}"
        raise CallError(f"{call}() has no option {name!r}{hint}")
