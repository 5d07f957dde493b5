"""The package keeps its own type hints."""

import subprocess
import sys

import paynter
import pytest


def test_the_hints_agree_with_the_code(tmp_path):
    pytest.importorskip("mypy")
    call = [sys.executable, "-m", "mypy", "--ignore-missing-imports", "--strict", "-p", "paynter"]
    # From an empty folder: the installed package is meant.
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    user = "import paynter\nresult = paynter.model('').run(stop=3)\n"
    (tmp_path / "user.py").write_text(user)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "user.py"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert "stop" in done.stdout and paynter.__version__
