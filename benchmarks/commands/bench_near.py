"""`crivo dedup` beside its peers (`near_peers.py`), and `crivo similar pairs` beside reading the file.

    cargo xtask bench near [--corpus C.jsonl --truth T.tsv] [--write FOLDER] [--small | --large]

The corpus has an id and a text in each record; the truth has `id, id, similarity` for every pair of
similarity 0.5 and more. Without them a corpus is made: texts of Zipf's words, a third of them changed
copies. CPU time counts, of one thread, start-up and reading included. Collections that outgrow their memory are the corpus
again and again, each time with other words; with `--large` up to 6.4 million documents.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from measure import Contender, Page, argument_parser
from near_peers import PEERS

THRESHOLD = 0.8
ROUNDS = 5


@dataclass
class Run:
    seconds: float
    wall: float
    megabytes: float


def cpu(command: list[str], rounds: int = ROUNDS) -> Run:
    """CPU seconds, wall time and peak memory of a command: the best of several rounds."""
    script = (
        "import resource, subprocess, sys, time; began = time.perf_counter();"
        "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode; wall = time.perf_counter() - began;"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
        "print(code, used.ru_utime + used.ru_stime, wall, used.ru_maxrss / 1024)"
    )
    best = Run(float("inf"), float("inf"), 0.0)
    for _ in range(rounds):
        # A fresh interpreter, so that its children are this command alone.
        output = subprocess.run([sys.executable, "-c", script, *command], stdout=subprocess.PIPE, check=True).stdout
        code, seconds, wall, megabytes = output.split()
        if int(code) not in (0, 1):
            sys.exit(f"{' '.join(command)} failed")
        best = Run(min(best.seconds, float(seconds)), min(best.wall, float(wall)), float(megabytes))
    return best


def in_turns(commands: dict[str, list[str]], rounds: int = ROUNDS) -> dict[str, Run]:
    """The best round of each command: all of them run once, then all of them again."""
    best: dict[str, Run] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            run, before = cpu(command, 1), best.get(name)
            best[name] = run if before is None or run.seconds < before.seconds else before
    return best


def make_corpus(path: Path, documents: int) -> None:
    """Texts of about 330 words; every third is an earlier one with some words changed."""
    if path.exists():
        return
    chance = random.Random(7)
    words = [f"w{number:x}" for number in range(50_000)]
    cumulated = list(accumulate(1 / (rank + 10) for rank in range(len(words))))
    texts: list[list[str]] = []
    with open(path.with_suffix(".part"), "w", encoding="utf-8") as file:
        for number in range(documents):
            if number % 3 == 2:
                text = list(texts[chance.randrange(len(texts))])
                for _ in range(chance.randrange(12)):
                    text[chance.randrange(len(text))] = chance.choice(words)
            else:
                text = chance.choices(words, cum_weights=cumulated, k=chance.randrange(40, 620))
                if len(texts) < 30_000:
                    texts.append(text)
            file.write(json.dumps({"id": number, "text": " ".join(text)}) + "\n")
    path.with_suffix(".part").rename(path)


def vary_corpus(base: Path, path: Path, documents: int) -> None:
    """Writes copies of a corpus one after the other. Every fourth word differs between copies, so that no
    five consecutive words of one copy are in another. Each copy has the near-duplicates of the original and
    none with the others."""
    if path.exists():
        return
    with open(base, encoding="utf-8") as file:
        texts = [json.loads(line)["text"].split() for line in file]
    with open(path.with_suffix(".part"), "w", encoding="utf-8") as file:
        for number in range(documents):
            copy, text = number // len(texts), list(texts[number % len(texts)])
            text[::4] = [f"{word}{copy}" for word in text[::4]]
            file.write(json.dumps({"id": number, "text": " ".join(text)}, ensure_ascii=False) + "\n")
    path.with_suffix(".part").rename(path)


def make_short(path: Path, documents: int) -> None:
    """Texts of about 200 bytes, a tenth of them changed copies of one before."""
    if path.exists():
        return
    chance = random.Random(17)
    words = [f"{chance.randrange(1 << 24):x}" for _ in range(40_000)]
    before: list[list[str]] = []
    with open(path.with_suffix(".part"), "w", encoding="ascii") as file:
        for number in range(documents):
            if number % 10 == 9:
                text = list(before[chance.randrange(len(before))])
                text[chance.randrange(len(text))] = "changed"
            else:
                text = chance.choices(words, k=30)
                if len(before) < 100_000:
                    before.append(text)
            file.write(json.dumps({"id": number, "text": " ".join(text)}) + "\n")
    path.with_suffix(".part").rename(path)


def growth_in_memory(page: Page, program: str, base: Path, data: Path, sizes: list[int], memory: int, short: int) -> None:
    """What a document costs, and what stays in memory, as collections outgrow the memory they are given."""
    lines, first = [], None
    for documents in sizes:
        path = data / f"varied-{documents}.jsonl"
        vary_corpus(base, path, documents)
        command = [program, "dedup", str(path), "--json", "--threads", "1", "--memory", f"{memory}M"]
        run = cpu(command, ROUNDS if documents <= 400_000 else 1)
        first = first or run.seconds / documents
        lines.append(
            f"| {documents:,} | {path.stat().st_size / 1e6:,.0f} | {run.seconds:.2f} | {run.seconds / documents * 1e6:.1f} "
            f"| {run.seconds / documents / first:.2f} | {run.megabytes:.0f} |"
        )
    wanted = 1.1 * memory * 1.048576 + 32
    page.parts.append(
        f"## Beyond memory: `--memory {memory}M`\n\nWanted: at most 1.30 beside the first, and a peak of at most {wanted:.0f} MB.\n\n"
        "| documents | MB | CPU s | µs a document | beside the first | peak MB |\n|---|---:|---:|---:|---:|---:|\n" + "\n".join(lines)
    )
    print(page.parts[-1], flush=True)
    if short:
        path = data / f"short-{short}.jsonl"
        make_short(path, short)
        run = cpu([program, "dedup", str(path), "--json", "--threads", "1", "--memory", "1G"], 1)
        page.parts.append(
            f"## {short:,} short texts, `--memory 1G`\n\n| MB | CPU s | µs a document | peak MB |\n|---:|---:|---:|---:|\n"
            f"| {path.stat().st_size / 1e6:,.0f} | {run.seconds:.1f} | {run.seconds / short * 1e6:.1f} | {run.megabytes:.0f} |"
        )
        print(page.parts[-1], flush=True)


def make_ratings(path: Path, rows: int, users: int, films: int) -> None:
    """A file of MovieLens 10M's shape: `user::film::rating::time` by user, films by Zipf's law, and twins."""
    if path.exists():
        return
    chance = random.Random(11)
    cumulated = list(accumulate(1 / (rank + 20) ** 0.9 for rank in range(films)))
    left, before = rows, []
    with open(path.with_suffix(".part"), "w", encoding="ascii") as file:
        for user in range(1, users + 1):
            if user % 2000 == 0 and before and len(before) <= left - (users - user):
                seen = before
            else:
                count = min(max(1, int(chance.expovariate((users - user + 1) / max(left, 1)))), left - (users - user), films // 2)
                seen = sorted(set(chance.choices(range(1, films + 1), cum_weights=cumulated, k=max(1, count))))
            if user == users:
                seen = sorted(set(seen) | set(chance.sample(range(1, films + 1), min(films, max(1, left)))))[: max(1, left)]
            file.writelines(f"{user}::{film}::{1 + film % 5}::{838_000_000 + user * 50 + film}\n" for film in seen)
            left -= len(seen)
            before = seen
    path.with_suffix(".part").rename(path)


def judge(found: set[str], truth: Path | None) -> str:
    if truth is None:
        return ""
    real: set[str] = set()
    for line in truth.read_text().splitlines():
        one, other, similarity = line.split("\t")
        if float(similarity) >= THRESHOLD - 1e-9:
            real |= {one, other}
    return f"{len(found & real) / len(real):.4f} / {len(found & real) / max(1, len(found)):.4f}"


def main() -> None:
    parser = argument_parser("a tenth")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--peer-rounds", type=int, help="rounds with the peers, which take a minute each")
    parser.add_argument("--large", action="store_true", help="also 6.4 million documents (12 GB) and 20 million short ones (6 GB)")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    scale = 10 if options.small else 1
    program = str(options.crivo)
    page = Page(
        "near",
        "Near-duplicates: `crivo dedup` and `crivo similar`",
        "CPU seconds of whole commands, start-up and reading included, the best of several rounds in which contenders take turns; the last table is wall "
        "time, the best of seven. The peers run in Python on one thread with their fastest settings: rensa, gaoya and datasketch check candidates by "
        "signature, because none of them can compare texts; datatrove and text-dedup take every candidate for a duplicate. "
        "Recall and precision are of documents that have a partner at 0.8, in a corpus of real texts whose pairs are all "
        "known; the others are made. Not among the peers: dolma 1.2.1 from PyPI, which has Bloom filters of paragraphs and no MinHash, and duplodocus, which "
        "neither crates.io nor PyPI has.",
        taken="files in the page cache",
    )
    peers = Path(__file__).with_name("near_peers.py")
    corpus, truth = options.corpus, options.truth
    if corpus is None:
        corpus = options.data / f"near-{25_000 // scale}.jsonl"
        make_corpus(corpus, 25_000 // scale)

    rows = []
    with tempfile.TemporaryDirectory() as folder:
        own = "**crivo dedup, verified exactly**"
        commands = {own: [program, "dedup", str(corpus), "--json", "--threads", "1"]}
        commands |= {peer: [sys.executable, str(peers), peer, str(corpus), f"{folder}/{peer}"] for peer in PEERS}
        runs = in_turns(commands, ROUNDS if options.peer_rounds is None else options.peer_rounds)
        pairs = f"{folder}/pairs.tsv"
        subprocess.run([*commands[own], "--pairs", pairs], stdout=subprocess.DEVNULL, check=True)
        found = {id for line in Path(pairs).read_text().splitlines() for id in line.split("\t")[:2]}
        for name, run in runs.items():
            answer = judge(found if name == own else set(Path(folder, name).read_text().split()), truth)
            rows.append(
                f"| {name} | {run.seconds:.2f} | {run.seconds / runs[own].seconds:.1f} | {run.megabytes:.0f} | {answer} |"
            )
    size = f"{corpus.stat().st_size / 1e6:,.0f} MB"
    head = "| who | CPU s | this ÷ crivo | peak MB | recall / precision |\n|---|---:|---:|---:|---|\n"
    page.parts.append(f"## {size} of texts, threshold {THRESHOLD}, one thread\n\n{head}" + "\n".join(rows))
    print(page.parts[-1], flush=True)

    turns = {threads: [program, "dedup", str(corpus), "--json", "--threads", threads] for threads in ["1", "2"]}
    one, two = in_turns(turns).values()
    page.parts.append(
        f"## Two threads\n\n| threads | wall s | one ÷ this |\n|---|---:|---:|\n| 1 | {one.wall:.2f} | 1.00 |\n"
        f"| 2 | {two.wall:.2f} | {one.wall / two.wall:.2f} |"
    )
    print(page.parts[-1], flush=True)

    table = []
    for documents in [25_000 // scale, 100_000 // scale, 400_000 // scale]:
        path = options.data / f"near-{documents}.jsonl"
        make_corpus(path, documents)
        run = cpu([program, "dedup", str(path), "--json", "--threads", "1"])
        table.append((f"{documents:,}", documents, path.stat().st_size / 1e6, run))
    run = cpu([program, "dedup", str(path), "--json", "--threads", "1", "--memory", "256M"])
    table.append((f"{documents:,} with --memory 256M", documents, path.stat().st_size / 1e6, run))
    first = table[0][3].seconds / table[0][1]
    lines = [
        f"| {name} | {megabytes:,.0f} | {run.seconds:.2f} | {run.seconds / documents * 1e6:.1f} "
        f"| {run.seconds / documents / first:.2f} | {run.megabytes:.0f} |"
        for name, documents, megabytes, run in table
    ]
    page.parts.append(
        "## Growth\n\n| documents | MB | CPU s | µs a document | beside the first | peak MB |\n"
        "|---|---:|---:|---:|---:|---:|\n" + "\n".join(lines)
    )
    print(page.parts[-1], flush=True)

    sizes = [25_000 // scale, 100_000 // scale, 400_000 // scale]
    if options.large:
        sizes += [1_600_000, 6_400_000]
    growth_in_memory(page, program, corpus, options.data, sizes, 256, 20_000_000 if options.large else 0)

    ratings = options.data / f"ratings-{10_000_054 // scale}.dat"
    make_ratings(ratings, 10_000_054 // scale, 69_878 // scale, 10_677)
    page.compare(f"Users with equal sets among the {10_000_054 // scale:,} rows of MovieLens 10M's shape, two threads", [
        Contender("crivo similar pairs --threshold 1",
                  [program, "similar", "pairs", str(ratings), "--sets", "1,2", "--threshold", "1", "--json", "--threads", "2"]),
        Contender("crivo count, which only reads and parses",
                  [program, "count", str(ratings), "--delimiter", "::", "--where", "3 > 6", "--json", "--threads", "2"]),
    ])
    page.write(options.write)


if __name__ == "__main__":
    main()
