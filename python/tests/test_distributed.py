"""The steps of near_duplicates, taken one by one, give its pairs."""

from itertools import combinations
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from columns import refused
from test_near_duplicates import TEXTS

from crivo import Bands, InvalidParameterError, near_duplicates, shingles
from crivo.distributed import LARGEST_BUCKET, Signer, Verifier


@pytest.mark.parametrize("kind", ["words:2", "words:5", "chars:9"])
def test_the_steps_give_the_pairs_of_the_whole(kind: str) -> None:
    texts = [*TEXTS, None, "short", "short"]
    signer = Signer(0.6, shingle=kind)
    fingerprints, sizes, keys = signer.sign(pa.array(texts))
    buckets: dict[int, set[int]] = {}
    firsts: dict[tuple[int, ...], int] = {}
    for place, fingerprint in enumerate(map(tuple, fingerprints.tolist())):
        if sizes[place] < 0:
            continue
        first = firsts.setdefault(fingerprint, place)
        for key in keys[place].tolist() if sizes[place] > 0 else []:
            buckets.setdefault(key, set()).add(first)
    candidates = sorted({pair for members in buckets.values() for pair in combinations(sorted(members), 2)})
    wanted = sorted({place for pair in candidates for place in pair})
    starts, hashes = signer.sets([texts[place] for place in wanted])
    sets = [hashes[one:other].tobytes() for one, other in zip(starts, starts[1:], strict=False)]
    ones = [str(place) for place in wanted] + [str(one) for one, _ in candidates]
    others = [None] * len(wanted) + [str(other) for _, other in candidates]
    verifier = Verifier(0.6)
    groups = np.zeros(len(ones), np.int64)
    rows, similarities = verifier.verify(groups, ones, others, [*sets, *[None] * len(candidates)])
    found = [
        (*candidates[row - len(wanted)], float(similarity))
        for row, similarity in zip(rows, similarities, strict=True)
    ]
    expected = near_duplicates(texts, 0.6, shingle=kind)
    alone = {place for place in firsts.values()}
    assert found == [pair for pair in expected.pairs if pair[0] in alone and pair[1] in alone]
    assert signer.bands == expected.bands and len(found) > 10


def test_sets_are_the_shingles() -> None:
    starts, hashes = Signer(shingle="words:3").sets(TEXTS[:20])
    for text, one, other in zip(TEXTS, starts, starts[1:], strict=False):
        assert hashes[one:other].tolist() == shingles(text, "words:3").tolist()


def test_pages_are_what_a_reader_sees() -> None:
    pages = ["<p>one <b>two</b> three</p>", "one two three"]
    signer = Signer(shingle="words:2", html=True)
    _, sizes, keys = signer.sign(pages)
    assert sizes.tolist() == [2, 2] and (keys[0] == keys[1]).all()
    starts, hashes = signer.sets(pages)
    assert hashes[: starts[1]].tolist() == hashes[starts[1] :].tolist()


def test_a_group_may_go_on_in_the_next_call() -> None:
    starts, hashes = Signer(shingle="words:1").sets(["a b c", "a b d", "a b c"])
    sets = [hashes[one:other].tobytes() for one, other in zip(starts, starts[1:], strict=False)]
    verifier = Verifier(0.4)
    assert len(verifier.verify(np.array([5, 5]), ["x", "y"], [None, None], sets[:2])[0]) == 0
    rows, similarities = verifier.verify(
        np.array([5, 6, 6]), ["x", "x", "y"], ["y", None, None], [None, *sets[1:]]
    )
    assert (rows.tolist(), similarities.tolist()) == ([0], [0.5])
    rows, similarities = verifier.verify(np.array([6]), ["y"], ["x"], [None])
    assert similarities.tolist() == [0.5]


def test_what_does_not_fit_together_is_refused() -> None:
    verifier = Verifier(0.5)
    one = np.zeros(1, np.int64)
    set_of_one = (1).to_bytes(8, "little")
    for arguments, message in (
        ((one, ["x"], ["y"], [None]), "expected the set of 'x' before its pairs"),
        ((one, [None], [None], [set_of_one]), "row 0: has no id"),
        ((one, ["x"], ["y"], [set_of_one]), "row 0: expected a set or a pair"),
        ((one, ["x", "y"], [None], [set_of_one]), "number of ones, others and sets"),
    ):
        with pytest.raises(InvalidParameterError, match=message):
            verifier.verify(*arguments)
    verifier.verify(one, ["x"], [None], [set_of_one])
    with pytest.raises(InvalidParameterError, match="expected one document for each, found two with 'x'"):
        verifier.verify(one, ["x"], [None], [set_of_one])
    assert "threshold" in refused(Verifier, 0.0)
    assert "threshold" in refused(Signer, 1.5)
    assert refused(Signer, shingle="words:0") and refused(Signer, hashes=10, bands=Bands(4, 4))


def test_the_largest_bucket_is_the_engine_s() -> None:
    source = Path(__file__).parents[2] / "crates" / "crivo-near" / "src" / "candidates.rs"
    assert f"pub const LARGEST_BUCKET: usize = {LARGEST_BUCKET};" in source.read_text(encoding="utf-8")
