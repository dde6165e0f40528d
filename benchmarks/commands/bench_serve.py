"""`crivo mail serve` under load: 32 connections as spamc opens them, for a minute.

    cargo xtask bench serve [--spam FOLDER --ham FOLDER] [--seconds 60] [--connections 32] [--lessons 5] [--milter] [--write FOLDER]

Every second file of each folder is learned, and the others are asked about; without folders, mail is made up.
The clients (`crates/crivo-mail/examples/load.rs`) connect, send a message, half-close and read the reply, again and
again: the server has as many requests before it as there are connections, all the time. With --lessons, this
percentage of the requests teaches a message. With --milter, half of the connections are those of a mail server that asks
the milter about one message after the other. Memory is looked at every second, and shown for each minute.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from measure import processor

SPAM = "winner prize claim lottery casino bonus jackpot free offer limited pills cheap discount replica watches".split()
HAM = "meeting agenda minutes budget review project deadline schedule lunch report attached draft comments team".split()


def make_mail(folder: Path, messages: int = 4000) -> tuple[Path, Path]:
    """Two folders of mail that repeats with its seed."""
    chance = random.Random(1)
    for kind, words in [("spam", SPAM), ("ham", HAM)]:
        (folder / kind).mkdir(parents=True)
        for number in range(messages):
            body = " ".join(chance.choices(words + "the and to of you for in is this that".split(), k=120))
            sender = f"{kind}{chance.randrange(50)}@{kind}.example"
            text = f"From: {sender}\nTo: you@example.org\nSubject: {' '.join(chance.choices(words, k=4))}\n\n{body}\n"
            (folder / kind / f"{number:06}.eml").write_text(text)
    return folder / "spam", folder / "ham"


def link_halves(source: Path, learned: Path, asked: Path) -> int:
    """Every second file goes into a folder to be learned, the others into one to be asked about; how many those are."""
    learned.mkdir()
    asked.mkdir(parents=True)
    paths = sorted(path for path in source.rglob("*") if path.is_file())
    for number, path in enumerate(paths):
        (asked if number % 2 else learned).joinpath(f"{number:06}.eml").symlink_to(path.resolve())
    return len(paths) // 2


class Memory(threading.Thread):
    """What a process has in memory, every second, in MB."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.pid, self.seen, self.ended = pid, [], threading.Event()

    def run(self) -> None:
        while not self.ended.wait(1 - time.monotonic() % 1):
            self.seen.append(megabytes(self.pid))

    def minutes(self) -> list[tuple[float, float]]:
        """For each minute what there was at its end, and the most in it."""
        parts = [self.seen[start : start + 60] for start in range(0, len(self.seen), 60)]
        return [(part[-1], max(part)) for part in parts]


def megabytes(pid: int) -> float:
    """What a process has in memory, its program included."""
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crivo", type=Path, required=True)
    parser.add_argument("--client", type=Path, default="target/dist/examples/load")
    parser.add_argument("--data", type=Path, help="not used: the mail is small")
    parser.add_argument("--spam", type=Path)
    parser.add_argument("--ham", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--lessons", type=float, default=0)
    parser.add_argument("--milter", action="store_true")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        spam, ham = (options.spam, options.ham) if options.spam and options.ham else make_mail(scratch / "made")
        asked = scratch / "asked"
        messages = link_halves(spam, scratch / "spam", asked / "spam") + link_halves(ham, scratch / "ham", asked / "ham")
        store = scratch / "store"
        learned = ["mail", "train", "--store", store, "--spam", scratch / "spam", "--ham", scratch / "ham"]
        subprocess.run([options.crivo, *learned], check=True, stdout=subprocess.DEVNULL)
        command = [options.crivo, "mail", "serve", "--store", store, "--spamd", "127.0.0.1:0"]
        command += ["--milter", "127.0.0.1:0"] if options.milter else []
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            said = [server.stdout.readline() for _ in range(2 if options.milter else 1)]
            ports = {line.split()[0]: int(line.rsplit(":", 1)[1]) for line in said}
            each = options.connections // len(ports)
            given = {
                name: [f"{'milter:' if name == 'milter' else ''}127.0.0.1:{port}", str(asked)] for name, port in ports.items()
            }

            def load(seconds: float) -> dict[str, dict[str, Any]]:
                clients = {}
                for name, start in given.items():
                    lessons = options.lessons if name == "spamd" else 0
                    arguments = [options.client, *start, str(seconds), str(each), str(lessons)]
                    clients[name] = subprocess.Popen(arguments, stdout=subprocess.PIPE)
                said = {name: client.communicate()[0] for name, client in clients.items()}
                return {name: json.loads(answer) for name, answer in said.items()}

            started = megabytes(server.pid)
            load(min(10, options.seconds))
            before, spent = megabytes(server.pid), cpu_seconds(server.pid)
            memory = Memory(server.pid)
            memory.start()
            seen = load(options.seconds)
            memory.ended.set()
            memory.join()
            after, spent = megabytes(server.pid), cpu_seconds(server.pid) - spent
            server.terminate()
        if server.returncode != 0:
            sys.exit(f"the server ended with {server.returncode}")
    requests = sum(found["requests"] + found["lessons"] for found in seen.values())
    errors = [found["first_error"] for found in seen.values() if found["errors"]]
    text = (
        f"# The mail filter as a server\n\n"
        f"{options.connections} connections for {options.seconds:g} s, {' and '.join(f'{each} to {name}' for name in ports)}, each asking again "
        f"and again. {options.lessons:g} % of the requests to spamd are lessons. {messages:,} messages were learned before, and {messages:,} others are "
        f"asked about. Measured {datetime.date.today()} on {os.cpu_count()} cores of {processor()}, which the clients share. "
        f"The server took {1000 * spent / requests:.2f} ms of CPU time a request. Repeat with `cargo xtask bench serve --spam FOLDER --ham FOLDER"
        f"{' --milter' if options.milter else ''}{f' --lessons {options.lessons:g}' if options.lessons else ''} --seconds {options.seconds:g}`.\n\n"
        "| requests | number | a second | errors | p50 ms | p99 ms | slowest ms |\n|---|---:|---:|---:|---:|---:|---:|\n"
    )
    for name, found in seen.items():
        text += (
            f"| {name} | {found['requests']:,} | {found['requests'] / options.seconds:,.0f} | {found['errors']} | {found['p50_ms']:.1f} "
            f"| {found['p99_ms']:.1f} | {found['slowest_ms']:.1f} |\n"
        )
        if found["lessons"]:
            text += (
                f"| lessons | {found['lessons']:,} | {found['lessons'] / options.seconds:,.0f} | | {found['lesson_p50_ms']:.1f} "
                f"| {found['lesson_p99_ms']:.1f} | |\n"
            )
    minutes = memory.minutes()
    text += (
        f"\nMemory of the server: {started:.0f} MB at its start, {before:.0f} MB after ten seconds, {after:.0f} MB at the end.\n\n"
        f"| minute | {' | '.join(str(number + 1) for number in range(len(minutes)))} |\n|---|{'---:|' * len(minutes)}\n"
        f"| MB at its end | {' | '.join(f'{end:.0f}' for end, _ in minutes)} |\n"
        f"| most MB in it | {' | '.join(f'{most:.0f}' for _, most in minutes)} |\n"
    )
    print(text)
    if options.write:
        (options.write / "serve.md").write_text(text)
    if errors:
        sys.exit(f"there were errors, the first: {errors[0]}")


if __name__ == "__main__":
    main()
