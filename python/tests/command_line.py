"""The command line, beside which several files of tests look at the package."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def program() -> Path:
    """The command line. `cargo xtask test` names the program that it has just built and tested."""
    if named := os.environ.get("CRIVO_PROGRAM"):
        return Path(named)
    subprocess.run(["cargo", "build", "--quiet", "--package", "crivo-cli"], cwd=ROOT, check=True)
    return ROOT / "target" / "debug" / "crivo"
