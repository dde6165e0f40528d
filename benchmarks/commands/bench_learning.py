"""How good is `crivo mail` while it learns? Measured beside bogofilter on the same mail in the same order.

    cargo xtask bench learning --data FOLDER --raw FOLDER [--only NAME …] [--every N] [--write FOLDER]

--data is Enron-Spam as in `bench mail` (enron1 … enron6, each with ham and spam); --raw its raw messages with
headers, below `ham` and `spam`. The parts, for --only:

    few      10 to 1,000 messages of both classes teach, others are asked about; the mean of several draws
    splits   alternating files, and older files teach newer ones; and the first with 1 % of wrong labels
    online   the raw messages in the order of their dates, each judged and then taught: all, or mistakes only
    forged   caught spam whose sender is replaced by one that was learned as ham

--every N takes every Nth message of a class, for a quick look. Verdicts are each filter's own. --filter names
the filters: crivo, bogofilter, and spamassassin, whose Bayes alone is asked (Perl's Mail::SpamAssassin is
needed). --folders takes only messages below folders of these names, in the part `few`.

This file is long because every table of the page has its own draws of messages, and all share
the two filters.
"""

from __future__ import annotations

import argparse
import email
import email.utils
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean

SIZES = [10, 40, 100, 400, 1000]
DRAWS = 5
ASKED = 3000
HAM_RATE = 0.001

# From this similarity of their word sequences on (Jaccard, five words), two messages are near-duplicates.
ALIKE = 0.5


@dataclass
class Outcome:
    """Scores and verdicts about spam and ham."""

    scores: dict[str, list[float]] = field(default_factory=lambda: {"spam": [], "ham": []})
    verdicts: dict[str, dict[str, int]] = field(
        default_factory=lambda: {kind: {"spam": 0, "ham": 0, "unsure": 0} for kind in ("spam", "ham")}
    )
    lessons: int = 0
    at_rate: float | None = None
    half: dict[str, float] | None = None

    def share(self, kind: str, verdict: str) -> float:
        return self.verdicts[kind][verdict] / max(sum(self.verdicts[kind].values()), 1)

    def unsure(self) -> float:
        total = sum(sum(found.values()) for found in self.verdicts.values())
        return sum(found["unsure"] for found in self.verdicts.values()) / max(total, 1)

    def at_half(self, kind: str) -> float:
        if self.half:
            return self.half[kind]
        return sum(score >= 0.5 for score in self.scores[kind]) / max(len(self.scores[kind]), 1)

    def caught(self, rate: float = HAM_RATE) -> float:
        """The share of spam that scores above all but this share of ham; ties are in random order."""
        if self.at_rate is not None:
            return self.at_rate
        found = [(score, kind) for kind, scores in self.scores.items() for score in scores]
        room, above, ham = len(self.scores["ham"]) * rate, 0.0, 0
        by_score: dict[float, dict[str, int]] = {}
        for score, kind in found:
            by_score.setdefault(score, {"spam": 0, "ham": 0})[kind] += 1
        for score in sorted(by_score, reverse=True):
            here = by_score[score]
            if ham + here["ham"] > room:
                above += here["spam"] * max(room - ham, 0) / here["ham"]
                break
            above, ham = above + here["spam"], ham + here["ham"]
        return above / max(len(self.scores["spam"]), 1)


Mail = list[tuple[Path, str]]


class Crivo:
    """Trains and asks crivo through its command line."""

    name = "crivo"

    def __init__(self, program: str, work: Path) -> None:
        self.program, self.work = program, work

    def run(self, *arguments: str | Path) -> dict:
        run = subprocess.run(
            [self.program, "mail", *map(str, arguments)], stdout=subprocess.PIPE, check=False
        )
        if run.returncode != 0:
            sys.exit(f"crivo mail {arguments[0]} failed")
        return json.loads(run.stdout)

    def folder(self, mail: Mail, name: str) -> list[str]:
        """The mail as folders of links, which keep its order."""
        target = self.work / name
        shutil.rmtree(target, ignore_errors=True)
        for kind in ("spam", "ham"):
            (target / kind).mkdir(parents=True)
        for number, (path, kind) in enumerate(mail):
            os.symlink(path, target / kind / f"{number:06}")
        return ["--spam", str(target / "spam"), "--ham", str(target / "ham")]

    def evaluate(self, taught: Mail, asked: Mail) -> Outcome:
        store = self.work / "store"
        shutil.rmtree(store, ignore_errors=True)
        self.run("train", "--store", store, *self.folder(taught, "taught"), "--json")
        return self.outcome(self.run("eval", "--store", store, *self.folder(asked, "asked"), "--json"))

    def online(self, mail: Mail, lessons: str) -> Outcome:
        store = self.work / "store"
        shutil.rmtree(store, ignore_errors=True)
        return self.outcome(
            self.run("eval", "--online", lessons, "--store", store, *self.folder(mail, "story"), "--json")
        )

    @staticmethod
    def outcome(report: dict) -> Outcome:
        verdicts = {
            kind: {key: report[kind][key] for key in ("spam", "ham", "unsure")} for kind in ("spam", "ham")
        }
        at_rate = next(found["spam_caught"] for found in report["caught_at"] if found["ham_rate"] == HAM_RATE)
        half = report.get("at_half")
        half = half and {"spam": half["spam_caught"], "ham": half["ham_caught"]}
        return Outcome(verdicts=verdicts, lessons=report.get("lessons", 0), at_rate=at_rate, half=half)


class Bogofilter:
    """Trains and asks bogofilter; it reads the names of messages from its input."""

    name = "bogofilter"

    def __init__(self, work: Path) -> None:
        self.work = work

    def run(self, store: Path, flag: str, paths: Iterable[Path]) -> str:
        names = "".join(f"{path}\n" for path in paths).encode()
        run = subprocess.run(
            ["bogofilter", "-d", str(store), flag, "-b"], input=names, stdout=subprocess.PIPE, check=False
        )
        if run.returncode not in (0, 1, 2):
            sys.exit("bogofilter failed")
        return run.stdout.decode()

    def evaluate(self, taught: Mail, asked: Mail) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            store = Path(folder)
            for kind, flag in (("spam", "-s"), ("ham", "-n")):
                self.run(store, flag, (path for path, label in taught if label == kind))
            outcome = Outcome()
            for kind in ("spam", "ham"):
                for line in self.run(
                    store, "-T", (path for path, label in asked if label == kind)
                ).splitlines():
                    self.add(outcome, kind, line)
            return outcome

    def online(self, mail: Mail, lessons: str) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            store, outcome = Path(folder), Outcome()
            for place, (path, kind) in enumerate(mail):
                # Without any words it has no data base to ask.
                line = self.run(store, "-T", [path]) if place else "x U 0.5"
                verdict = self.add(outcome, kind, line)
                if lessons == "everything" or verdict != kind:
                    self.run(store, "-s" if kind == "spam" else "-n", [path])
                    outcome.lessons += 1
            return outcome

    @staticmethod
    def add(outcome: Outcome, kind: str, line: str) -> str:
        letter, score = line.split()[-2:]
        verdict = {"S": "spam", "H": "ham", "U": "unsure"}[letter]
        outcome.verdicts[kind][verdict] += 1
        outcome.scores[kind].append(float(score))
        return verdict


class SpamAssassin:
    """Trains and asks SpamAssassin's Bayes alone: spam from 0.99 on, as its rule BAYES_99, ham below one half.

    It gives no answer before 200 messages of each class; here it answers from the first one on.
    """

    name = "spamassassin"

    def __init__(self, work: Path) -> None:
        self.work = work

    def run(self, store: Path, lines: Iterable[str]) -> list[float]:
        program = Path(__file__).with_name("spamassassin_bayes.pl")
        run = subprocess.run(
            ["perl", str(program), str(store)],
            input="".join(f"{line}\n" for line in lines).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if run.returncode != 0:
            sys.exit("SpamAssassin failed")
        return [float(line) for line in run.stdout.split()]

    def evaluate(self, taught: Mail, asked: Mail) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            self.run(Path(folder), (f"{kind} {path}" for path, kind in taught))
            scores = self.run(Path(folder), (f"ask {path}" for path, _ in asked))
        outcome = Outcome()
        for (_, kind), score in zip(asked, scores, strict=True):
            self.add(outcome, kind, score)
        return outcome

    def online(self, mail: Mail, lessons: str) -> Outcome:
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            outcome = Outcome()
            for path, kind in mail:
                [score] = self.run(Path(folder), [f"ask {path}"])
                if self.add(outcome, kind, score) != kind or lessons == "everything":
                    self.run(Path(folder), [f"{kind} {path}"])
                    outcome.lessons += 1
            return outcome

    @staticmethod
    def add(outcome: Outcome, kind: str, score: float) -> str:
        verdict = "spam" if score >= 0.99 else "ham" if score < 0.5 else "unsure"
        outcome.verdicts[kind][verdict] += 1
        outcome.scores[kind].append(score)
        return verdict


def messages(folder: Path, every: int, only: list[str] | None = None) -> dict[str, list[Path]]:
    """The files of each class, in the order of their names, folder by folder; of some folders if named."""
    found: dict[str, list[Path]] = {"spam": [], "ham": []}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        parts = path.relative_to(folder).parts
        kinds = [part for part in parts if part in found]
        if kinds and (not only or set(parts) & set(only)):
            found[kinds[0]].append(path.resolve())
    return {kind: paths[::every] for kind, paths in found.items()}


def percent(share: float) -> str:
    return f"{100 * share:.2f} %"


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(cells) + " |" for cells in [head, ["---"] * len(head), *rows]) + "\n"


VERDICTS = ["spam called spam", "ham called spam", "unsure", "spam caught at 0.1 % of ham, by score"]


def verdicts(outcome: Outcome) -> list[str]:
    return [
        percent(outcome.share("spam", "spam")),
        percent(outcome.share("ham", "spam")),
        percent(outcome.unsure()),
        percent(outcome.caught()),
    ]


def few(filters: list, mail: dict[str, list[Path]], name: str, draws: int, asked_of_class: int) -> str:
    rows = []
    for size in SIZES:
        found: dict[str, list[Outcome]] = {filter.name: [] for filter in filters}
        for draw in range(draws):
            chance = random.Random(draw)
            taught: Mail = []
            asked: Mail = []
            for kind, paths in mail.items():
                drawn = chance.sample(paths, min(asked_of_class + SIZES[-1] // 2, len(paths)))
                taught += [(path, kind) for path in drawn[: size // 2]]
                asked += [(path, kind) for path in drawn[SIZES[-1] // 2 :]]
            for filter in filters:
                found[filter.name].append(filter.evaluate(taught, asked))
        for filter in filters:
            cells = [verdicts(outcome) for outcome in found[filter.name]]
            means = [
                percent(fmean(float(cell[at][:-2]) / 100 for cell in cells)) for at in range(len(VERDICTS))
            ]
            worst = percent(max(outcome.share("ham", "spam") for outcome in found[filter.name]))
            rows.append([f"{filter.name}, {size:,}", *means, worst])
            print(name, rows[-1], file=sys.stderr, flush=True)
    head = [f"{name}: filter and messages taught", *VERDICTS, "ham called spam in the worst draw"]
    return table(head, rows)


def drawn(path: Path) -> float:
    """A number from 0 to 1 that a message has wherever it lies: copies of it get the same label."""
    digest = hashlib.blake2b(b"".join(path.read_bytes().split()), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2**64


def without_duplicates(crivo: Crivo, taught: Mail, asked: Mail) -> Mail:
    """The messages asked about that are no near-duplicate of a taught one, by crivo's own engine."""
    documents, pairs = crivo.work / "documents.jsonl", crivo.work / "pairs.tsv"
    with documents.open("w") as out:
        for number, (path, _) in enumerate(taught + asked):
            text = path.read_bytes().decode("utf-8", "replace")
            out.write(json.dumps({"id": str(number), "text": text}) + "\n")
    command = [crivo.program, "-q", "dedup", str(documents), "--dry-run", "--threshold", str(ALIKE)]
    subprocess.run([*command, "--all-pairs", "--pairs", str(pairs)], check=True, stdout=subprocess.DEVNULL)
    known = set()
    with pairs.open() as found:
        for line in found:
            one, other = sorted(int(number) for number in line.split("\t")[:2])
            if one < len(taught) <= other:
                known.add(other - len(taught))
    return [found for number, found in enumerate(asked) if number not in known]


def splits(filters: list, data: Path, every: int, distinct: bool = False) -> str:
    ways: dict[str, Callable[[int, int], bool]] = {
        "alternating": lambda i, n: i % 2 == 0,
        "older teaches newer": lambda i, n: i < n // 2,
    }
    rows = []
    for noise in (0.0, 0.01):
        for way, trains in ways.items():
            if noise and (distinct or way != "alternating"):
                continue
            taught: Mail = []
            asked: Mail = []
            for folder in sorted(path for path in data.iterdir() if path.is_dir()):
                for kind, paths in messages(folder, every).items():
                    for i, path in enumerate(paths):
                        (taught if trains(i, len(paths)) else asked).append((path, kind))
            wrong = {"spam": "ham", "ham": "spam"}
            taught = [(path, wrong[kind] if drawn(path) < noise else kind) for path, kind in taught]
            if distinct:
                asked = without_duplicates(next(filter for filter in filters if isinstance(filter, Crivo)), taught, asked)
                print(way, len(asked), "messages are left", file=sys.stderr, flush=True)
            for filter in filters:
                outcome = filter.evaluate(taught, asked)
                name = f"{filter.name}, {way}" + (", 1 % of labels wrong" if noise else "")
                rows.append(
                    [
                        name,
                        percent(outcome.at_half("spam")),
                        percent(outcome.at_half("ham")),
                        *verdicts(outcome),
                    ]
                )
                print(rows[-1], file=sys.stderr, flush=True)
    return table(["filter and split", "spam, score ≥ 0.5", "ham, score ≥ 0.5", *VERDICTS], rows)


def date(path: Path) -> float:
    """Seconds of the Date header; messages without one come first."""
    with path.open("rb") as file:
        found = email.message_from_bytes(file.read(64 << 10)).get("Date")
    try:
        return email.utils.parsedate_to_datetime(str(found)).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


def online(filters: list, mail: dict[str, list[Path]]) -> str:
    story = sorted((date(path), path, kind) for kind, paths in mail.items() for path in paths)
    rows = []
    for lessons in ("everything", "mistakes"):
        for filter in filters:
            outcome = filter.online([(path, kind) for _, path, kind in story], lessons)
            rows.append([f"{filter.name}, {lessons}", *verdicts(outcome), f"{outcome.lessons:,}"])
            print(rows[-1], file=sys.stderr, flush=True)
    return table([f"filter and lessons, {len(story):,} messages", *VERDICTS, "lessons"], rows)


FROM = re.compile(rb"^From:[^\n]*(\n[ \t][^\n]*)*", re.MULTILINE | re.IGNORECASE)


def forged(crivo: Crivo, mail: dict[str, list[Path]]) -> str:
    """Spam that was caught, its sender replaced by one whose mail was learned as ham."""
    taught = [(path, kind) for kind, paths in mail.items() for path in paths[::4]]
    store = crivo.work / "store"
    shutil.rmtree(store, ignore_errors=True)
    crivo.run("train", "--store", store, *crivo.folder(taught, "taught"), "--json")
    known = [
        found[0]
        for path in mail["ham"][::4]
        if (found := FROM.search(path.read_bytes())) and b"@" in found[0]
    ]
    chance, counts = random.Random(0), {"spam": 0, "unsure": 0, "ham": 0}
    names = {0: "spam", 1: "ham", 2: "unsure"}
    others = [path for place, path in enumerate(mail["spam"]) if place % 4 == 2]
    for path in chance.sample(others, len(others)):
        text = path.read_bytes()
        check = [crivo.program, "mail", "check", "--store", str(store)]
        if subprocess.run(check, input=text, stdout=subprocess.DEVNULL, check=False).returncode != 0:
            continue
        head, line = FROM.search(text), chance.choice(known)
        text = text[: head.start()] + line + text[head.end() :] if head else line + b"\n" + text
        counts[
            names[subprocess.run(check, input=text, stdout=subprocess.DEVNULL, check=False).returncode]
        ] += 1
        if sum(counts.values()) == 300:
            break
    return table(["forged senders", *counts], [[str(sum(counts.values())), *map(str, counts.values())]])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--crivo", default="target/dist/crivo")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--raw", type=Path)
    parser.add_argument("--only", nargs="*", default=["few", "splits", "distinct", "online", "forged"])
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--folders", nargs="*")
    parser.add_argument("--draws", type=int, default=DRAWS)
    parser.add_argument("--asked", type=int, default=ASKED)
    parser.add_argument("--filter", nargs="*", default=["crivo", "bogofilter"])
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    text = [
        "# The mail filter while it learns\n",
        "Written by `cargo xtask bench learning --data FOLDER --raw FOLDER`.\n",
    ]
    with tempfile.TemporaryDirectory() as scratch:
        work = Path(scratch)
        crivo = Crivo(args.crivo, work)
        peers = [Bogofilter(work), SpamAssassin(work)]
        filters = [filter for filter in (crivo, *peers) if filter.name in args.filter]
        for name, folder in (("Enron-Spam", args.data), ("raw messages", args.raw)):
            if folder and "few" in args.only:
                text += ["## Few messages\n"] * (name == "Enron-Spam") + [
                    few(filters, messages(folder, args.every, args.folders), name, args.draws, args.asked)
                ]
        if args.data and "splits" in args.only:
            text += ["## Halves of Enron-Spam\n", splits(filters, args.data, args.every)]
        if args.data and "distinct" in args.only:
            text += [
                "## Halves of Enron-Spam without near-duplicates\n",
                splits(filters, args.data, args.every, distinct=True),
            ]
        if args.raw and "online" in args.only:
            text += [
                "## In the order of dates, raw messages\n",
                online(filters, messages(args.raw, args.every)),
            ]
        if args.raw and "forged" in args.only:
            text += ["## Forged senders, raw messages\n", forged(crivo, messages(args.raw, args.every))]
    page = "\n".join(text)
    print(page)
    if args.write:
        (args.write / "learning.md").write_text(page)


if __name__ == "__main__":
    main()
