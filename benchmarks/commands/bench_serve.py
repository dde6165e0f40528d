"""`crivo mail serve` under load: 32 connections as spamc opens them, for a minute.

    cargo xtask bench serve [--spam FOLDER --ham FOLDER] [--seconds 60] [--connections 32] [--lessons 5] [--write FOLDER]

Every second file of each folder is learned, and the others are asked about; without folders, mail is made up.
The clients (`crates/crivo-mail/examples/load.rs`) connect, send a message, half-close and read the reply, again and
again: the server has as many requests before it as there are connections, all the time. With --lessons, this
percentage of the requests teaches a message.
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


def kilobytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


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
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            port = int(server.stdout.readline().rsplit(":", 1)[1])


            def load(seconds: float) -> dict[str, Any]:
                given = [f"127.0.0.1:{port}", str(asked), str(seconds), str(options.connections), str(options.lessons)]
                return json.loads(subprocess.run([options.client, *given], check=True, stdout=subprocess.PIPE).stdout)

            load(min(10, options.seconds))
            before, spent = kilobytes(server.pid), cpu_seconds(server.pid)
            seen = load(options.seconds)
            after, spent = kilobytes(server.pid), cpu_seconds(server.pid) - spent
            server.terminate()
        if server.returncode != 0:
            sys.exit(f"the server ended with {server.returncode}")
    text = (
        f"# The mail filter as a server\n\n"
        f"{options.connections} connections for {options.seconds:g} s, each asking CHECK again and again, "
        f"{options.lessons:g} % of requests being lessons ({seen['lessons']:,}); {messages:,} messages learned and "
        f"{messages:,} others asked about. Measured {datetime.date.today()} on {os.cpu_count()} cores of {processor()}, which the "
        f"clients share. Repeat with `cargo xtask bench serve --spam FOLDER --ham FOLDER`.\n\n"
        "| requests | a second | errors | p50 ms | p99 ms | slowest ms | server's CPU a request | MB before | MB after |\n"
        "|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        f"| {seen['requests']:,} | {seen['requests'] / options.seconds:,.0f} | {seen['errors']} | {seen['p50_ms']:.1f} | {seen['p99_ms']:.1f} "
        f"| {seen['slowest_ms']:.1f} | {1000 * spent / seen['requests']:.2f} ms | {before / 1024:.1f} | {after / 1024:.1f} |\n"
    )
    print(text)
    if options.write:
        (options.write / "serve.md").write_text(text)
    if seen["errors"]:
        sys.exit(f"{seen['errors']} errors, the first: {seen['first_error']}")


if __name__ == "__main__":
    main()
