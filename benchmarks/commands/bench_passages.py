"""`crivo passages`, `dedup --unit paragraph` and `overlap` beside their peers.

    cargo xtask bench passages [--corpus C.jsonl] [--write FOLDER] [--small | --large]

The corpus has an id and a text in each record; without one, `bench_near.py`'s is made. CPU time counts, of one thread,
start-up and reading included; contenders take turns. The suffix array is `suffix_array.py`. Larger corpora are the corpus again and again, each time with other words, so that the share of what is repeated stays.
"""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from bench_near import Run, cpu, in_turns, make_corpus
from measure import Page, argument_parser

WORDS = 8
SHARE = 0.5
MEMORY = "256M"

# The n-grams of the items in a set; a document is hit by an item if enough of the item's stand in it.
PYTHON_SET = """
import json, re, sys
from collections import defaultdict
corpus, items, n, share = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
cut = re.compile(r"\\w+").findall
grams = defaultdict(set)
sizes = []
for number, line in enumerate(open(items)):
    words = cut(json.loads(line)["text"].lower())
    own = {tuple(words[at:at + n]) for at in range(len(words) - n + 1)}
    sizes.append(len(own))
    for gram in own:
        grams[gram].add(number)
hit = 0
for line in open(corpus):
    words = cut(json.loads(line)["text"].lower())
    counts = defaultdict(int)
    for gram in {gram for at in range(len(words) - n + 1) if (gram := tuple(words[at:at + n])) in grams}:
        for item in grams[gram]:
            counts[item] += 1
    hit += any(count >= share * sizes[item] for item, count in counts.items())
print(hit)
"""

# The same by a join of unnested n-grams.
DUCKDB = """
import sys, duckdb
corpus, items, n, share = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
db = duckdb.connect()
db.execute("SET threads = 1")
db.execute("SET enable_progress_bar = false")
grams = '''
    SELECT DISTINCT id, array_to_string(list_slice(words, place, place + {n} - 1), ' ') AS gram FROM (
        SELECT id, words, unnest(range(1, len(words) - {n} + 2)) AS place FROM (
            SELECT id, regexp_extract_all(lower(text), '\\\\w+') AS words FROM read_json('{path}', columns = {{id: 'BIGINT', text: 'VARCHAR'}})))
'''
db.execute("CREATE TABLE items AS " + grams.format(n=n, path=items))
db.execute("CREATE TABLE sizes AS SELECT id, count(*) AS size FROM items GROUP BY id")
documents = grams.format(n=n, path=corpus)
print(db.execute(f'''
    SELECT count(DISTINCT document) FROM (
        SELECT d.id AS document, i.id AS item, count(*) AS found FROM ({documents}) d JOIN items i USING (gram) GROUP BY ALL)
    JOIN sizes ON sizes.id = item WHERE found >= {share} * size
''').fetchone()[0])
"""


def copy_corpus(base: Path, path: Path, copies: int) -> None:
    """Copies with other letters and digits, so that each has the passages of the first and hardly any with another."""
    if path.exists():
        return
    with open(base, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    factors, number = [1, 3, 5, 7, 9, 11, 15, 17, 19, 21, 23, 25], 0
    with open(path.with_suffix(".part"), "w", encoding="utf-8") as file:
        for copy in range(copies):
            table = {}
            for first, count, factor in [("a", 26, factors[copy % 12]), ("A", 26, factors[copy % 12]), ("0", 10, [1, 3, 7, 9][copy % 4])]:
                for place in range(count):
                    table[ord(first) + place] = ord(first) + (place * factor + copy // 12) % count
            for text in texts:
                file.write(json.dumps({"id": number, "text": text.translate(table)}, ensure_ascii=False) + "\n")
                number += 1
    path.with_suffix(".part").rename(path)


def row(name: str, megabytes: float, run: Run, first: Run | None = None, more: str = "") -> str:
    ratio = "" if first is None else f" | {run.seconds / first.seconds:.1f}"
    return f"| {name} | {run.seconds:.2f} | {megabytes / run.seconds:.0f}{ratio} | {run.megabytes:.0f} |{more}"


def passages(page: Page, program: str, corpus: Path, folder: Path) -> None:
    """Beside the suffix array: the same lines, and what each costs."""
    megabytes = corpus.stat().st_size / 1e6
    own, theirs = folder / "own.tsv", folder / "theirs.tsv"
    command = [program, "passages", str(corpus), "--json", "--threads", "1", "--memory", MEMORY, "--report", str(own)]
    script = str(Path(__file__).with_name("suffix_array.py"))
    peer = [sys.executable, script, str(corpus), str(theirs)]
    runs = in_turns({"crivo": command, "array": peer}, 2)
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    parts = json.loads(subprocess.run(peer, capture_output=True, check=True).stdout)
    lines = [sorted(path.read_text().splitlines()) for path in (own, theirs)]
    equal = "the same" if lines[0] == lines[1] else f"DIFFERENT in {len(set(lines[0]) ^ set(lines[1]))} lines"
    array = Run(parts["array"], parts["array"], runs["array"].megabytes)
    page.add(
        f"Passages of 50 words and more, {megabytes:,.0f} MB of texts",
        [
            f"{report['passages']:,} passages repeat {report['bytes_repeated'] / report['bytes']:.1%} of the bytes. The reports of both are "
            f"{equal}, byte for byte. crivo writes {report['spilled'] / report['bytes']:.2f} bytes a byte of text to disk.",
            "",
            "| who | CPU s | MB/s | this ÷ crivo | peak MB |",
            "|---|---:|---:|---:|---:|",
            row("**crivo passages**", megabytes, runs["crivo"], runs["crivo"]),
            row("libdivsufsort and Kasai's lengths alone, in memory", megabytes, array, runs["crivo"]),
            row("the same with reading, words and passages in Python", megabytes, runs["array"], runs["crivo"]),
        ],
    )


def growth(page: Page, program: str, corpus: Path, data: Path, copies: list[int]) -> None:
    table = ["| MB | CPU s | MB/s | CPU a byte beside the first | peak MB | disk, bytes a byte |", "|---:|---:|---:|---:|---:|---:|"]
    first = None
    for count in copies:
        path = corpus if count == 1 else data / f"passages-{corpus.stem}-{count}.jsonl"
        copy_corpus(corpus, path, count)
        command = [program, "passages", str(path), "--json", "--threads", "1", "--memory", MEMORY]
        run = cpu(command, 3 if count == 1 else 1)
        report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout) if count < 20 else None
        megabytes = path.stat().st_size / 1e6
        first = first or run.seconds / megabytes
        disk = f"{report['spilled'] / report['bytes']:.2f}" if report else ""
        table.append(
            f"| {megabytes:,.0f} | {run.seconds:.1f} | {megabytes / run.seconds:.0f} | {run.seconds / megabytes / first:.2f} | {run.megabytes:.0f} | {disk} |"
        )
        if count >= 20:
            path.unlink()
    page.add(f"Growth, `--memory {MEMORY}` (wanted: at most 1.30 a byte)", table)


def paragraphs(page: Page, program: str, corpus: Path, folder: Path) -> None:
    lines = folder / "lines.txt"
    with open(corpus, encoding="utf-8") as file, open(lines, "w", encoding="utf-8") as out:
        out.writelines(line for record in file for line in json.loads(record)["text"].splitlines(keepends=True))
    megabytes = lines.stat().st_size / 1e6
    own, theirs = folder / "own.jsonl", folder / "theirs.txt"
    commands = {
        "**crivo dedup --unit paragraph**": [program, "dedup", str(corpus), "--unit", "paragraph", "--threads", "1", "-o", str(own), "--quiet"],
        "awk '!x[$0]++' by lines": ["sh", "-c", f"awk '!x[$0]++' {lines} > {theirs}"],
    }
    runs = in_turns(commands, 3)
    first = next(iter(runs.values()))
    table = ["| who | CPU s | MB/s | this ÷ crivo | peak MB |", "|---|---:|---:|---:|---:|"]
    page.add(f"Repeated paragraphs, {megabytes:,.0f} MB", table + [row(name, megabytes, run, first) for name, run in runs.items()])


def overlaps(page: Page, program: str, corpus: Path, folder: Path, count: int) -> None:
    """Items cut out of the corpus, one in ten of them; the others are of words that no document has in that order."""
    chance = random.Random(3)
    with open(corpus, encoding="utf-8") as file:
        texts = [words for line in file if len(words := json.loads(line)["text"].split()) >= 200]
    items = folder / "items.jsonl"
    with open(items, "w", encoding="utf-8") as out:
        for number in range(count):
            item: list[str] = []
            # What is all signs has too few words for one run.
            while len(re.findall(r"\w+", " ".join(item))) < 20:
                words = chance.choice(texts)
                start = chance.randrange(max(1, len(words) - 40))
                item = words[start : start + 40]
            if number % 10:
                chance.shuffle(item)
            out.write(json.dumps({"id": number, "text": " ".join(item)}, ensure_ascii=False) + "\n")
    megabytes = corpus.stat().st_size / 1e6
    arguments = [str(corpus), str(items), str(WORDS), str(SHARE)]
    options = ["--words", str(WORDS), "--share", str(SHARE), "--threads", "1", "--json"]
    commands = {
        "**crivo overlap**": [program, "overlap", str(corpus), "--with", str(items), *options],
        "a Python set of n-grams": [sys.executable, "-c", PYTHON_SET, *arguments],
        "DuckDB, a join of n-grams": [sys.executable, "-c", DUCKDB, *arguments],
    }
    runs = in_turns(commands, 1)
    hits = [subprocess.run(command, capture_output=True, check=True, text=True).stdout for command in commands.values()]
    first = next(iter(runs.values()))
    table = ["| who | CPU s | MB/s | this ÷ crivo | peak MB |", "|---|---:|---:|---:|---:|"]
    title = f"Overlap of {megabytes:,.0f} MB with {count:,} items of 40 words (wanted: a twentieth; ≤ 1 KB an item + 64 MB)"
    note = ["", f"Documents hit: crivo {json.loads(hits[0])['documents_hit']:,}, the set {int(hits[1]):,}, DuckDB {int(hits[2]):,}."]
    page.add(title, table + [row(name, megabytes, run, first) for name, run in runs.items()] + note)


def main() -> None:
    parser = argument_parser("a tenth")
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--large", action="store_true", help="also 3 GB")
    options = parser.parse_args()
    options.data.mkdir(parents=True, exist_ok=True)
    corpus = options.corpus
    if corpus is None:
        corpus = options.data / f"near-{2_500 if options.small else 25_000}.jsonl"
        make_corpus(corpus, 2_500 if options.small else 25_000)
    program = str(options.crivo)
    page = Page(
        "passages",
        "Pieces of documents: `crivo passages`, `crivo dedup --unit` and `crivo overlap`",
        "CPU seconds of whole commands on one thread, start-up and reading included.",
        taken="files in the page cache",
    )
    folder = Path(tempfile.mkdtemp(dir=options.data))
    try:
        passages(page, program, corpus, folder)
        growth(page, program, corpus, options.data, [1, 10, *([60] if options.large else [])])
        paragraphs(page, program, corpus, folder)
        overlaps(page, program, corpus, folder, 2_000 if options.small else 20_000)
    finally:
        shutil.rmtree(folder)
    page.write(options.write)


if __name__ == "__main__":
    main()
