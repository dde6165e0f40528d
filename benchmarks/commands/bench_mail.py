"""How good and how fast is `crivo mail`? Measured on Enron-Spam, beside bogofilter where that is installed.

    cargo xtask bench mail --data FOLDER [--raw FOLDER] [--write FOLDER]

FOLDER has enron1 … enron6, each with ham and spam, one message a file (the preprocessed set); the raw one has any
layout below `ham` and `spam`, with headers. Two splits: even-numbered files of each folder (names sorted) train and
odd ones test; the first half by name trains and the second tests. Nothing is chosen on test mail. CPU time counts.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

INTRODUCTION = """Written by `cargo xtask bench mail --data FOLDER`. CPU time counts, files are in the page cache. What crivo does to train: it keeps what
it learned (features, signature), fits the model and, on folds, what its score means, and so can unlearn every message and say how sure it is.
Speeds are medians of five turns, the filters taking turns.
"""

# How often each filter trains and checks, in turns.
TURNS = 5

SPLITS = {"alternating": lambda i, n: i % 2 == 0, "older teaches newer": lambda i, n: i < n // 2}


def split(data: Path, out: Path, trains) -> None:
    """Links the files of every folder into train/ and test/."""
    for folder in sorted(path for path in data.rglob("*") if path.is_dir()):
        names = sorted(path for path in folder.iterdir() if path.is_file())
        kinds = [part for part in folder.relative_to(data).parts if part in ("ham", "spam")]
        for i, path in enumerate(names if kinds else []):
            part = "train" if trains(i, len(names)) else "test"
            target = out / part / kinds[0] / "-".join(folder.relative_to(data).parts)
            target.mkdir(parents=True, exist_ok=True)
            os.symlink(path.resolve(), target / path.name)
            path.read_bytes()  # so that the first contender does not wait for the disk


def cpu(command: list[str], **options) -> tuple[str, float]:
    """What a command prints, and its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(command, stdout=subprocess.PIPE, check=False, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if run.returncode not in (0, 1, 2):
        sys.exit(f"{' '.join(command)} failed")
    return run.stdout.decode(), after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def evaluate(crivo: str, store: Path, mail: Path, *more: str) -> tuple[dict, float]:
    paths = ["--spam", str(mail / "test/spam"), "--ham", str(mail / "test/ham")]
    text, seconds = cpu([crivo, "mail", "eval", "--store", str(store), *paths, "--json", *more])
    return json.loads(text), seconds


def train(crivo: str, store: Path, mail: Path, *more: str) -> tuple[int, float]:
    paths = ["--spam", str(mail / "train/spam"), "--ham", str(mail / "train/ham")]
    text, seconds = cpu([crivo, "mail", "train", "--store", str(store), *paths, "--json", *more])
    return json.loads(text)["read"], seconds


def cold_check(crivo: str, store: Path, message: Path) -> float:
    """Milliseconds of one process that checks one message: the median of twenty-one."""
    times = []
    for _ in range(21):
        with message.open("rb") as given:
            began = time.perf_counter()
            subprocess.run([crivo, "mail", "check", "--store", str(store)], stdin=given, stdout=subprocess.DEVNULL)
            times.append(1000 * (time.perf_counter() - began))
    return sorted(times)[10]


def make_many(data: Path, out: Path, messages: int) -> None:
    """More different messages than the set has: each the first half of one and the second half of another."""
    chance = random.Random(1)
    for kind in ("spam", "ham"):
        texts = [path.read_bytes().splitlines(keepends=True) for path in sorted(data.rglob("*.txt")) if kind in path.parts]
        (out / "train" / kind).mkdir(parents=True)
        for number in range(messages // 2):
            one, other = chance.choice(texts), chance.choice(texts)
            body = one[: 1 + len(one) // 2] + other[len(other) // 2 :]
            (out / "train" / kind / f"{number:06}.eml").write_bytes(b"".join(body) + b"\n%d\n" % number)


class Bogofilter:
    """The same split by bogofilter, its score cut at one half. It reads the names of messages from its input."""

    def __init__(self, mail: Path, folder: Path) -> None:
        self.mail, self.folder = mail, folder

    def run(self, part: str, kind: str, *flags: str) -> tuple[str, int, float]:
        paths = sorted(path for path in (self.mail / part / kind).rglob("*") if path.is_file())
        names = "".join(f"{path}\n" for path in paths).encode()
        text, seconds = cpu(["bogofilter", "-d", str(self.folder), *flags, "-b"], input=names)
        return text, len(paths), seconds

    def train(self) -> tuple[int, float]:
        runs = [self.run("train", kind, flag) for kind, flag in (("spam", "-s"), ("ham", "-n"))]
        return sum(run[1] for run in runs), sum(run[2] for run in runs)

    def evaluate(self) -> tuple[dict[str, float], int, float]:
        caught, tested, spent = {}, 0, 0.0
        for kind in ("spam", "ham"):
            text, messages, seconds = self.run("test", kind, "-T")
            scores = [float(line.split()[-1]) for line in text.splitlines()]
            if len(scores) != messages:
                sys.exit(f"bogofilter scored {len(scores)} of {messages} messages")
            caught[kind] = sum(score >= 0.5 for score in scores) / messages
            tested, spent = tested + messages, spent + seconds
        return caught, tested, spent


def row(name: str, report: dict) -> list[str]:
    def share(kind: str, verdict: str) -> str:
        return percent(report[kind][verdict] / max(report[kind]["total"], 1))

    half = report["at_half"]
    unsure = (report["spam"]["unsure"] + report["ham"]["unsure"]) / (report["spam"]["total"] + report["ham"]["total"])
    return [name, percent(half["spam_caught"]), percent(half["ham_caught"]), share("spam", "spam"), share("ham", "spam"), percent(unsure)]


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crivo", default="target/dist/crivo")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--write", type=Path)
    args, _ = parser.parse_known_args()
    text = ["# The mail filter, measured\n", INTRODUCTION]
    with tempfile.TemporaryDirectory() as scratch:
        work, rows, speed, cold = Path(scratch), [], [], []
        for name, trains in SPLITS.items():
            mail, store = work / name / "mail", work / name / "store"
            split(args.data, mail, trains)
            measured = {filter: ([], []) for filter in ("crivo", "bogofilter")}
            for _ in range(TURNS):
                shutil.rmtree(store, ignore_errors=True)
                read, training = train(args.crivo, store, mail)
                report, checking = evaluate(args.crivo, store, mail)
                tested = report["spam"]["total"] + report["ham"]["total"]
                measured["crivo"][0].append(read / training)
                measured["crivo"][1].append(tested / checking)
                if shutil.which("bogofilter"):
                    with tempfile.TemporaryDirectory(dir=work) as folder:
                        peer = Bogofilter(mail, Path(folder))
                        peer_read, training = peer.train()
                        caught, peer_tested, checking = peer.evaluate()
                    measured["bogofilter"][0].append(peer_read / training)
                    measured["bogofilter"][1].append(peer_tested / checking)
            message = next(iter((mail / "test/spam").rglob("*.txt")))
            rows.append(row(f"crivo, {name}", report))
            if measured["bogofilter"][0]:
                rows.append([f"bogofilter, {name}", percent(caught["spam"]), percent(caught["ham"]), "", "", ""])
            for filter, (trained, checked) in measured.items():
                if trained:
                    speed.append([f"{filter}, {name}", f"{median(trained):,.0f}", f"{median(checked):,.0f}"])
            cold.append([f"{read:,}", f"{cold_check(args.crivo, store, message):.1f} ms"])
        make_many(args.data, work / "many", 100_000)
        read, training = train(args.crivo, work / "many-store", work / "many")
        speed.append(["crivo, 100,000 made of halves", f"{read / training:,.0f}", ""])
        cold.append([f"{read:,}", f"{cold_check(args.crivo, work / 'many-store', message):.1f} ms"])
        text.append("## The default method\n")
        text.append(table(["filter and split", "spam, score ≥ 0.5", "ham, score ≥ 0.5", "spam called spam", "ham called spam", "unsure"], rows))
        text.append("## Speed, per CPU second\n")
        text.append(table(["filter and split", "messages trained", "messages checked"], speed))
        text.append("## One process that checks one message\n")
        text.append(table(["messages learned", "wall time, the median of 21"], cold))
        mail, store = work / "alternating" / "mail", work / "classic"
        train(args.crivo, store, mail, "--method", "classic")
        report, _ = evaluate(args.crivo, store, mail, "--sweep")
        text.append("## The classic method, alternating\n")
        cells = ["spam_caught", "spam_empty", "ham_caught", "ham_empty"]
        swept = [[f"{found['threshold']:.1f}", *(percent(found[cell]) for cell in cells)] for found in report["sweep"]]
        text.append(table(["threshold", "spam caught", "of it without a shingle", "ham caught", "of it without a shingle"], swept))
        if args.raw:
            mail, store = work / "raw", work / "raw-classic"
            split(args.raw, mail, SPLITS["alternating"])
            train(args.crivo, store, mail, "--method", "classic")
            report, _ = evaluate(args.crivo, store, mail, "--sweep")
            last = report["sweep"][-1]
            text.append("## The classic method's check of senders, raw messages, alternating\n")
            text.append(table(["spam blocked", "ham blocked"], [[percent(last["spam_blocked"]), percent(last["ham_blocked"])]]))
    page = "\n".join(text)
    print(page)
    if args.write:
        (args.write / "mail.md").write_text(page)


if __name__ == "__main__":
    main()
