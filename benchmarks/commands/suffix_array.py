"""Repeated passages by a suffix array, as other tools find them: the truth for `crivo passages`, and its peer.

    python suffix_array.py CORPUS.jsonl REPORT.tsv [MIN_WORDS]

Writes the lines of `crivo passages --report` and says what the parts took, in CPU seconds. Nothing of it is crivo's:
words become numbers by a dictionary, the suffixes of the whole collection are sorted by libdivsufsort, and neighbours
that begin with the same words have the same window. Words are runs of letters, digits and `_` in lower case; where most
letters are of scripts without blanks, each is a word. All of it is held in memory.
"""

from __future__ import annotations

import json
import re
import sys
import time

import numpy as np
from pydivsufsort import divsufsort, kasai

WORDS = re.compile(r"\w+")
LETTERS = re.compile(r"\w")
NO_BLANKS = re.compile(
    "[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uaa60-\uaa7f\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff]"
)


def cut(text: str) -> list[tuple[str, int, int]]:
    """The words of a text with the bytes they stand at."""
    found = WORDS.finditer(text)
    if not text.isascii():
        without = len(NO_BLANKS.findall(text))
        if without > sum(c.isalpha() for c in text) - without:
            found = LETTERS.finditer(text)
        at = [0]
        for c in text:
            at.append(at[-1] + len(c.encode()))
        return [(one.group().lower(), at[one.start()], at[one.end()]) for one in found]
    return [(one.group().lower(), one.start(), one.end()) for one in found]


def main() -> None:
    corpus, report = sys.argv[1:3]
    least = int(sys.argv[3]) if len(sys.argv) > 3 else 50
    began = time.process_time()
    numbers: dict[str, int] = {}
    ids, spans, words, starts = [], [], [], [0]
    with open(corpus, encoding="utf-8") as file:
        for line in file:
            record = json.loads(line)
            own = cut(record["text"])
            ids.append(record["id"])
            spans.append(np.array([(start, end) for _, start, end in own], np.int64).reshape(-1, 2))
            words.append(np.array([numbers.setdefault(word, len(numbers)) for word, _, _ in own], np.int64))
            starts.append(starts[-1] + len(own) + 1)
    # A number that no other place has stands behind each text, so that nothing goes on in the next.
    parts = [part for number, own in enumerate(words) for part in (own, [len(numbers) + number])]
    text = np.concatenate(parts).astype(np.int64)
    cut_at = time.process_time()
    array = divsufsort(text)
    lengths = kasai(text, array)  # how many words each suffix shares with the next in the array
    sorted_at = time.process_time()

    # Runs of neighbours that share a window; the smallest position of each is the first occurrence.
    new = np.concatenate([[True], lengths[:-1] < least])
    group = np.cumsum(new) - 1
    smallest = np.minimum.reduceat(array, np.flatnonzero(new))
    first = np.empty(len(text), np.int64)
    first[array] = smallest[group]

    lines = []
    for number, own in enumerate(words):
        begin, end = starts[number], starts[number] + len(own)
        covered = 0
        windows = first[begin : max(begin, end - least + 1)]
        for at in (np.flatnonzero(windows < begin) + begin).tolist():
            if at + least <= covered:
                continue
            known, behind, ahead = int(first[at]), 0, least
            while behind < min(known, at - begin) and text[at - behind - 1] == text[known - behind - 1]:
                behind += 1
            while at + ahead < end and text[at + ahead] == text[known + ahead]:
                ahead += 1
            covered = at + ahead
            lines.append((number, at - behind, known - behind, behind + ahead))
    lines.sort()
    with open(report, "w", encoding="utf-8") as out:
        for number, at, known, count in lines:
            other = int(np.searchsorted(starts, known, side="right")) - 1
            mine, theirs = at - starts[number], known - starts[other]
            out.write(
                f"{ids[number]}\t{spans[number][mine][0]}\t{spans[number][mine + count - 1][1]}\t{ids[other]}"
                f"\t{spans[other][theirs][0]}\t{spans[other][theirs + count - 1][1]}\n"
            )
    ended = time.process_time()
    print(json.dumps({"words": cut_at - began, "array": sorted_at - cut_at, "passages": ended - sorted_at}))


if __name__ == "__main__":
    main()
