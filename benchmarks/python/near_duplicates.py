"""Near-duplicates from Python: `crivo.near_duplicates` beside rensa, gaoya and datasketch, end to end.

    pip install . -r benchmarks/python/requirements.txt
    python benchmarks/python/near_duplicates.py CORPUS.jsonl [--truth PAIRS.tsv] [--rounds 3]

Each contender runs in a process of its own, on one thread: it reads the corpus (records with an id and a
text) and names the documents that have a partner at 0.8. CPU time counts, start-up and reading included;
the best of some rounds, contenders taking turns. The truth has `id, id, similarity`; without it only the
numbers of documents are shown.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "commands"))

from near_peers import THRESHOLD, documents, gaoya_duplicates, rensa_duplicates


def crivo_duplicates(texts: list[str]) -> list[int]:
    import crivo

    found = crivo.near_duplicates(texts, THRESHOLD, threads=1)
    return sorted(set(found.pair_positions.ravel().tolist()))


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


def run_alone(name: str, corpus: str) -> None:
    ids, texts = documents(corpus)
    found = [ids[number] for number in CONTENDERS[name](texts)]
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, *found)


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
    best: dict[str, tuple[float, float, set[str]]] = {}
    for _ in range(options.rounds):
        for name in CONTENDERS:
            command = [sys.executable, __file__, options.corpus, "--alone", name]
            seconds, megabytes, *found = subprocess.run(
                command, stdout=subprocess.PIPE, check=True, text=True
            ).stdout.split()
            if name not in best or float(seconds) < best[name][0]:
                best[name] = (float(seconds), float(megabytes), set(found))
    print(f"{'':12}{'CPU s':>8}{'ratio':>8}{'peak MB':>9}{'documents':>11}   recall / precision")
    for name, (seconds, megabytes, found) in best.items():
        right = (
            f"{len(found & real) / len(real):.4f} / {len(found & real) / max(1, len(found)):.4f}"
            if real
            else ""
        )
        print(
            f"{name:12}{seconds:>8.2f}{seconds / best['crivo'][0]:>7.1f}×{megabytes:>9.0f}{len(found):>11}   {right}"
        )


if __name__ == "__main__":
    main()
