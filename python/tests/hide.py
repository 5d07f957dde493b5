"""Runs in a worker: makes it one without the package."""

import sys


def hide():
    for name in [n for n in sys.modules if n.split(".")[0] == "paynter"]:
        del sys.modules[name]
    sys.modules["paynter"] = None
