"""`crivo mail serve` under load: 32 connections as spamc opens them, for a minute.

    cargo xtask bench serve [--spam FOLDER --ham FOLDER] [--seconds 60] [--connections 32] [--write FOLDER]

Every second file of each folder is learned, and the others are asked about; without folders, mail is made up.
A client is a process that connects, sends a message, half-closes and reads the reply, again and again: the server has
as many requests before it as there are clients, all the time.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import os
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

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


def link_half(source: Path, target: Path) -> list[bytes]:
    """Every second file goes into a folder to be learned; the others come back."""
    target.mkdir()
    asked = []
    for number, path in enumerate(sorted(path for path in source.rglob("*") if path.is_file())):
        if number % 2 == 0:
            (target / f"{number:06}.eml").symlink_to(path.resolve())
        else:
            asked.append(path.read_bytes())
    return asked


def client(port: int, seconds: float, messages: list[bytes], results: multiprocessing.Queue[tuple[list[float], list[str]]]) -> None:
    times, errors = [], []
    chance = random.Random(os.getpid())
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        message = chance.choice(messages)
        reply = b""
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
                connection.sendall(b"CHECK SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(message) + message)
                connection.shutdown(socket.SHUT_WR)
                while piece := connection.recv(4096):
                    reply += piece
        except OSError as error:
            errors.append(str(error))
            continue
        times.append(time.perf_counter() - start)
        if not reply.startswith(b"SPAMD/1.1 0 EX_OK\r\nSpam: "):
            errors.append(reply.decode(errors="replace"))
    results.put((times, errors))


def kilobytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))


def load(port: int, connections: int, seconds: float, messages: list[bytes]) -> tuple[list[float], list[str]]:
    results: multiprocessing.Queue[tuple[list[float], list[str]]] = multiprocessing.Queue()
    clients = [multiprocessing.Process(target=client, args=(port, seconds, messages, results)) for _ in range(connections)]
    for process in clients:
        process.start()
    times: list[float] = []
    errors: list[str] = []
    for _ in clients:
        some_times, some_errors = results.get()
        times += some_times
        errors += some_errors
    for process in clients:
        process.join()
    return sorted(times), errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crivo", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="not used: the mail is small")
    parser.add_argument("--spam", type=Path)
    parser.add_argument("--ham", type=Path)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch_name:
        scratch = Path(scratch_name)
        spam, ham = (options.spam, options.ham) if options.spam and options.ham else make_mail(scratch / "made")
        messages = link_half(spam, scratch / "spam") + link_half(ham, scratch / "ham")
        store = scratch / "store"
        learned = ["mail", "train", "--store", store, "--spam", scratch / "spam", "--ham", scratch / "ham"]
        subprocess.run([options.crivo, *learned], check=True, stdout=subprocess.DEVNULL)
        command = [options.crivo, "mail", "serve", "--store", store, "--spamd", "127.0.0.1:0"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout
            port = int(server.stdout.readline().rsplit(":", 1)[1])
            load(port, options.connections, min(5, options.seconds), messages)
            before = kilobytes(server.pid)
            times, errors = load(port, options.connections, options.seconds, messages)
            after = kilobytes(server.pid)
            server.terminate()
        if server.returncode != 0:
            sys.exit(f"the server ended with {server.returncode}")
    at = lambda share: 1000 * times[int(share * (len(times) - 1))]  # noqa: E731
    text = (
        f"# The mail filter as a server\n\n"
        f"{options.connections} connections for {options.seconds:g} s, each asking CHECK again and again; {len(messages):,} messages learned and "
        f"{len(messages):,} others asked about. Measured {datetime.date.today()} on {os.cpu_count()} cores of {processor()}, which the "
        f"clients share. Repeat with `cargo xtask bench serve`.\n\n"
        "| requests | a second | errors | p50 ms | p99 ms | slowest ms | MB before | MB after |\n|---:|---:|---:|---:|---:|---:|---:|---:|\n"
        f"| {len(times):,} | {len(times) / options.seconds:,.0f} | {len(errors)} | {at(0.5):.1f} | {at(0.99):.1f} | {at(1):.1f} "
        f"| {before / 1024:.1f} | {after / 1024:.1f} |\n"
    )
    print(text)
    if options.write:
        (options.write / "serve.md").write_text(text)
    if errors:
        sys.exit(f"{len(errors)} errors, the first: {errors[0]}")


if __name__ == "__main__":
    main()
