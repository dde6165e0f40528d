"""Near-duplicates from Python: `crivo.near_duplicates` beside rensa, gaoya and datasketch, end to end.

    cargo xtask bench python CORPUS.jsonl [--truth PAIRS.tsv] [--rounds 3]

Each contender runs in a process of its own, on one thread: it reads the corpus (records with an id and a
text) and names the documents that have a partner at 0.8. CPU time counts: from the import of the package to
the last name, and again with Python's start and the reading of the corpus, which are the same for everyone.
The best of some rounds stands, contenders taking turns. The truth has `id, id, similarity`; without it only the
numbers of documents are shown.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from near_peers import THRESHOLD, documents, gaoya_duplicates, rensa_duplicates


def crivo_duplicates(texts: list[str]) -> list[int]:
    import crivo

    found = crivo.near_duplicates(texts, THRESHOLD, threads=1)
    return sorted({number for pair in found.pairs for number in pair[:2]})


def datasketch_duplicates(texts: list[str]) -> list[int]:
    import re

    from datasketch import MinHash, MinHashLSH

    word = re.compile(r"\w+")
    index, signatures = MinHashLSH(threshold=THRESHOLD, num_perm=128), []
    for number, text in enumerate(texts):
        words = word.findall(text.lower())
        signature = MinHash(num_perm=128)
        shingles = {" ".join(words[i : i + 5]).encode() for i in range(len(words) - 4)}
        if shingles:
            signature.update_batch(shingles)
            index.insert(number, signature)
        signatures.append((signature, bool(shingles)))
    found = []
    for number, (signature, is_long_enough) in enumerate(signatures):
        others = (other for other in index.query(signature) if other != number) if is_long_enough else ()
        if any(signature.jaccard(signatures[other][0]) >= THRESHOLD for other in others):
            found.append(number)
    return found


CONTENDERS: dict[str, Callable[[list[str]], list[int]]] = {
    "crivo": crivo_duplicates,
    "rensa": rensa_duplicates,
    "gaoya": gaoya_duplicates,
    "datasketch": datasketch_duplicates,
}


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run_alone(name: str, corpus: str) -> None:
    ids, texts = documents(corpus)
    before = cpu_seconds()
    found = [ids[number] for number in CONTENDERS[name](texts)]
    whole, peak = cpu_seconds(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(whole - before, whole, peak / 1024, *found)


@dataclass
class Result:
    call: float = float("inf")
    whole: float = float("inf")
    megabytes: float = 0.0
    found: set[str] = field(default_factory=set)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus")
    parser.add_argument("--truth", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", choices=list(CONTENDERS), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        run_alone(options.alone, options.corpus)
        return
    real: set[str] = set()
    for line in options.truth.read_text().splitlines() if options.truth else []:
        one, other, similarity = line.split("\t")
        real |= {one, other} if float(similarity) >= THRESHOLD - 1e-9 else set()
    results = {name: Result() for name in CONTENDERS}
    for _ in range(options.rounds):
        for name, result in results.items():
            command = [sys.executable, __file__, options.corpus, "--alone", name]
            run = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
            call, whole, megabytes, *found = run.stdout.split()
            result.call, result.whole = min(result.call, float(call)), min(result.whole, float(whole))
            result.megabytes, result.found = float(megabytes), set(found)
    print(
        "| who | CPU s | this ÷ crivo | with reading | this ÷ crivo | peak MB | documents | recall / precision |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---|")
    crivo = results["crivo"]
    for name, result in results.items():
        right = len(result.found & real)
        quality = f"{right / len(real):.4f} / {right / max(1, len(result.found)):.4f}" if real else ""
        print(
            f"| {name} | {result.call:.2f} | {result.call / crivo.call:.1f} | {result.whole:.2f} "
            f"| {result.whole / crivo.whole:.1f} | {result.megabytes:.0f} | {len(result.found)} | {quality} |"
        )


if __name__ == "__main__":
    main()
