"""Running whole commands: wall time and peak memory, the best of several rounds."""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

ROUNDS = 7


@dataclass
class Contender:
    """A command as a shell would run it; `rounds` fewer than usual for what takes a minute.

    Peak memory is that of one process, so a pipe of several, which is `alone` no more, has none to tell.
    """

    name: str
    command: list[str]
    rounds: int = ROUNDS
    alone: bool = True
    seconds: float = float("inf")
    megabytes: float = 0.0
    output: str = ""

    def run_once(self) -> None:
        start = time.perf_counter()
        process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        watcher = threading.Thread(target=self.watch_memory, args=(process.pid,))
        watcher.start()
        output, errors = process.communicate()
        seconds = time.perf_counter() - start
        watcher.join()
        if process.returncode != 0:
            sys.exit(f"{' '.join(self.command)}\n{errors.decode()}")
        self.seconds = min(self.seconds, seconds)
        self.output = output.decode().strip()

    def watch_memory(self, pid: int) -> None:
        """The high-water mark that the kernel keeps, read until the process is gone.

        `wait4` would tell the same but for the memory of this Python process, which the child
        has until it starts its program.
        """
        try:
            while True:
                status = Path(f"/proc/{pid}/status").read_text()
                marks = [line.split()[1] for line in status.splitlines() if line.startswith("VmHWM")]
                if not marks:
                    return
                if Path(f"/proc/{pid}/exe").resolve() != Path(sys.executable).resolve() or "python" in self.command[0]:
                    self.megabytes = max(self.megabytes, int(marks[0]) / 1024)
                time.sleep(0.001)
        except (FileNotFoundError, ProcessLookupError):
            return


def argument_parser(small: str) -> argparse.ArgumentParser:
    """What all scripts are told: the program, where data is kept, where the page goes, and whether this is a trial."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--crivo", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--write", type=Path)
    parser.add_argument("--small", action="store_true", help=f"{small} of the size, to try the script")
    return parser


@dataclass
class Page:
    """The page of a group, and how its figures were taken."""

    group: str
    title: str
    introduction: str
    taken: str = f"best of {ROUNDS} rounds, contenders taking turns, files in the page cache"
    parts: list[str] = field(default_factory=list)

    def compare(self, job: str, contenders: list[Contender]) -> None:
        """Contenders take turns; the first is crivo, and the ratio is how many times it is faster."""
        for number in range(ROUNDS):
            for contender in contenders:
                if number < contender.rounds:
                    contender.run_once()
        crivo = contenders[0]
        rows = [
            f"| {'**' + c.name + '**' if c is crivo else c.name.replace('|', chr(92) + '|')} | {c.seconds:.3f} | {c.seconds / crivo.seconds:.2f} "
            f"| {format(c.megabytes, '.0f') if c.alone else ''} |"
            for c in contenders
        ]
        table = ["| who | s | this ÷ crivo | peak MB |", "|---|---:|---:|---:|", *rows]
        self.add(job, table)

    def add(self, title: str, table: list[str]) -> None:
        """A part of the page, shown at once."""
        self.parts.append(f"## {title}\n\n" + "\n".join(table))
        print(self.parts[-1], end="\n\n", flush=True)

    def write(self, folder: Path | None) -> None:
        """Into the folder, if there is one."""
        if folder:
            (folder / f"{self.group}.md").write_text(self.text())

    def text(self) -> str:
        measured = (
            f"Measured {datetime.date.today()} on {os.cpu_count()} cores of {processor()}; {self.taken}. "
            f"Repeat with `cargo xtask bench {self.group}`."
        )
        return "\n\n".join([f"# {self.title}", self.introduction, measured, *self.parts]) + "\n"


def processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(": ", 1)[1]
    return platform.machine()
