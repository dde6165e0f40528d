"""Builds the wheel: the package by maturin, and the program `crivo` beside it, so that pip puts both in place.

pip calls the functions here (PEP 517); `cargo xtask dist` calls `add_program`. The program is an executable of its own and
no function of the extension: `import crivo` then loads only what Python uses, without the mail server, SQLite and
Parquet, and the program starts without Python.

CRIVO_PROGRAM names a program that is built already; without it, cargo builds one.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import maturin

ROOT = Path(__file__).resolve().parent.parent
NAME = "crivo.exe" if os.name == "nt" else "crivo"

get_requires_for_build_wheel = maturin.get_requires_for_build_wheel
get_requires_for_build_sdist = maturin.get_requires_for_build_sdist
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
build_sdist = maturin.build_sdist
# What is edited in place is the package; its program is the one that cargo builds.
get_requires_for_build_editable = maturin.get_requires_for_build_editable
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable
build_editable = maturin.build_editable


def build_wheel(
    wheel_directory: str,
    config_settings: dict[str, Any] | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Builds the package and the program, and returns the name of the wheel."""
    name = maturin.build_wheel(wheel_directory, config_settings, metadata_directory)
    program = find_program()
    if program is not None:
        add_program(Path(wheel_directory) / name, program)
    return name


def find_program() -> Path | None:
    """Returns the program that was built before, or builds it; none in a source archive, which has the package only."""
    built = os.environ.get("CRIVO_PROGRAM")
    if built:
        return Path(built)
    manifest = ROOT / "crates" / "crivo-cli" / "Cargo.toml"
    if not manifest.exists():
        return None
    # The extension's profile: what both depend on is built once.
    command = ["cargo", "build", "--profile", "python", "--bin", "crivo", "--manifest-path", str(manifest)]
    messages = subprocess.run(
        [*command, "--message-format", "json-render-diagnostics"], check=True, stdout=subprocess.PIPE, text=True
    )
    for line in reversed(messages.stdout.splitlines()):
        executable = json.loads(line).get("executable")
        if executable:
            return Path(executable)
    sys.exit(f"no program was built by: {' '.join(command)}")


def add_program(wheel: Path, program: Path) -> None:
    """Adds the program to the scripts of a wheel, and to its list of files."""
    content = program.read_bytes()
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    handle, name = tempfile.mkstemp(dir=wheel.parent, suffix=".partial")
    os.close(handle)
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(name, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        [record] = [entry for entry in old.infolist() if entry.filename.endswith(".dist-info/RECORD")]
        place = f"{record.filename.removesuffix('.dist-info/RECORD')}.data/scripts/{NAME}"
        for entry in old.infolist():
            if entry.filename not in (record.filename, place):
                new.writestr(entry, old.read(entry), zipfile.ZIP_DEFLATED, 9)
        script = zipfile.ZipInfo(place, record.date_time)
        script.external_attr = 0o100755 << 16
        new.writestr(script, content, zipfile.ZIP_DEFLATED, 9)
        listed = old.read(record).decode().splitlines()
        kept = [line for line in listed if not line.startswith(f"{place},")]
        lines = [f"{place},sha256={digest},{len(content)}", *kept]
        new.writestr(record, "\n".join(lines) + "\n", zipfile.ZIP_DEFLATED, 9)
    os.chmod(name, 0o644)
    os.replace(name, wheel)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: build_wheel.py WHEEL PROGRAM")
    add_program(Path(sys.argv[1]), Path(sys.argv[2]))
