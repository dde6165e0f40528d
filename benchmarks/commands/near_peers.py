"""One peer finds near-duplicates: reads JSONL, writes the ids of the documents that have a partner.

    near_peers.py rensa|gaoya CORPUS.jsonl OUT

Each with its fastest settings that check candidates at all: rensa in bulk, 16 bands of 8, gaoya with its
own analyzer, 20 bands of 5. Both check by signature; neither can compare the texts.
"""

from __future__ import annotations

import json
import re
import sys

THRESHOLD = 0.8


def documents(path: str) -> tuple[list[int], list[str]]:
    ids, texts = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            ids.append(record["id"])
            texts.append(record["text"])
    return ids, texts


def rensa_duplicates(texts: list[str]) -> list[int]:
    from rensa import RMinHash, RMinHashLSH

    word = re.compile(r"\w+")

    def shingles(text: str) -> list[str]:
        words = word.findall(text.lower())
        return [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]

    signatures = RMinHash.from_token_sets((shingles(text) for text in texts), 128, 42)
    index = RMinHashLSH(THRESHOLD, 128, 16)
    index.insert_many(signatures)
    found = []
    for number, (signature, candidates) in enumerate(zip(signatures, index.query_all(signatures))):
        if any(other != number and signature.jaccard(signatures[other]) >= THRESHOLD for other in candidates):
            found.append(number)
    return found


def gaoya_duplicates(texts: list[str]) -> list[int]:
    import gaoya

    index = gaoya.minhash.MinHashStringIndex(32, THRESHOLD, 20, 5, None, "word", True, (5, 5), "smallvec")
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    return [number for number, text in enumerate(texts) if any(other != number for other in index.query(text))]


def main() -> None:
    peer, corpus, out = sys.argv[1:]
    ids, texts = documents(corpus)
    find = {"rensa": rensa_duplicates, "gaoya": gaoya_duplicates}[peer]
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(f"{ids[number]}\n" for number in find(texts))


if __name__ == "__main__":
    main()
