"""One peer finds near-duplicates: reads JSONL, writes the ids of the documents that have a partner.

    near_peers.py PEER CORPUS.jsonl OUT

Each on one thread with its fastest settings, five-word shingles and threshold 0.8. rensa and datasketch check
candidates by signature: 128 hashes, which for rensa are 16 bands of 8. gaoya does so with its own analyzer and 20 bands of
5. datatrove and text-dedup check no candidates: whatever shares a band is a duplicate, which is their design.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

THRESHOLD = 0.8
WORD = re.compile(r"\w+")


def documents(path: str) -> tuple[list[int], list[str]]:
    ids, texts = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            ids.append(record["id"])
            texts.append(record["text"])
    return ids, texts


def shingles(text: str) -> list[str]:
    words = WORD.findall(text.lower())
    return [" ".join(words[i : i + 5]) for i in range(len(words) - 4)]


def rensa(path: str) -> Iterator[object]:
    from rensa import RMinHash, RMinHashLSH

    ids, texts = documents(path)
    signatures = RMinHash.from_token_sets((shingles(text) for text in texts), 128, 42)
    index = RMinHashLSH(THRESHOLD, 128, 16)
    index.insert_many(signatures)
    for number, (signature, candidates) in enumerate(zip(signatures, index.query_all(signatures))):
        if any(other != number and signature.jaccard(signatures[other]) >= THRESHOLD for other in candidates):
            yield ids[number]


def gaoya(path: str) -> Iterator[object]:
    import gaoya

    ids, texts = documents(path)
    index = gaoya.minhash.MinHashStringIndex(32, THRESHOLD, 20, 5, None, "word", True, (5, 5), "smallvec")
    for number, text in enumerate(texts):
        index.insert_document(number, text)
    for number, text in enumerate(texts):
        if any(other != number for other in index.query(text)):
            yield ids[number]


def datasketch(path: str) -> Iterator[object]:
    from datasketch import MinHash, MinHashLSH

    ids, texts = documents(path)
    index = MinHashLSH(threshold=THRESHOLD, num_perm=128)
    sets = ([shingle.encode() for shingle in set(shingles(text))] for text in texts)
    signatures = MinHash.bulk(sets, num_perm=128)
    with index.insertion_session() as session:
        for number, signature in enumerate(signatures):
            session.insert(number, signature)
    for number, signature in enumerate(signatures):
        candidates = index.query(signature)
        if any(other != number and signature.jaccard(signatures[other]) >= THRESHOLD for other in candidates):
            yield ids[number]


def datatrove(path: str) -> Iterator[object]:
    import struct

    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import JsonlReader

    corpus = Path(path).resolve()
    with tempfile.TemporaryDirectory() as folder:
        config = MinhashConfig(n_grams=5)
        reader = JsonlReader(str(corpus.parent), glob_pattern=corpus.name)
        for name, steps in [
            ("1", [reader, MinhashDedupSignature(f"{folder}/signatures", config)]),
            ("2", [MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=config)]),
        ]:
            tasks = 1 if name == "1" else config.num_buckets
            LocalPipelineExecutor(steps, tasks=tasks, workers=1, logging_dir=f"{folder}/logs{name}").run()
        numbers: set[int] = set()
        for pairs in Path(folder, "buckets").glob("*.dups"):
            for _, one, _, other in struct.iter_unpack("<4I", pairs.read_bytes()):
                numbers |= {one, other}
    with open(corpus, encoding="utf-8") as lines:
        yield from (json.loads(line)["id"] for number, line in enumerate(lines) if number in numbers)


def text_dedup(path: str) -> Iterator[object]:
    from text_dedup import minhash

    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--path", "json", "--data_files", path, "--split", "train", "--cache_dir", folder]
        arguments += ["--output", f"{folder}/out", "--column", "text", "--num_proc", "1", "--use_auth_token", "false"]
        arguments += ["--threshold", str(THRESHOLD), "--ngram", "5", "--num_perm", "128", "--hash_func", "xxh3"]
        minhash.main(arguments, standalone_mode=False)
    roots = {number: minhash.uf.find(number) for number in list(minhash.uf.parent)}
    sizes = Counter(roots.values())
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number in roots and sizes[roots[number]] > 1:
                yield json.loads(line)["id"]


PEERS = {"rensa": rensa, "gaoya": gaoya, "datasketch": datasketch, "datatrove": datatrove, "text-dedup": text_dedup}


def main() -> None:
    peer, corpus, out = sys.argv[1:]
    with open(out, "w", encoding="utf-8") as file:
        file.writelines(f"{id}\n" for id in PEERS[peer](corpus))


if __name__ == "__main__":
    main()
