"""Spark Connect: the answers of one machine from a server that the client only talks to."""

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import QUIET

import crivo
from crivo.interchange import Theta

SCRIPT = Path(__file__).with_name("connect_session.py")


def made_pieces() -> tuple[list[str], list[str]]:
    """Documents that share passages, and items of a benchmark. Two of the items stand in documents."""
    chance = random.Random(8)
    words = [f"W{number}" for number in range(300)]
    shared = [" ".join(chance.choices(words, k=20)) for _ in range(5)]
    documents = [
        f"{' '.join(chance.choices(words, k=8))}. {shared[place % 5]}, {' '.join(chance.choices(words, k=5))}"
        for place in range(30)
    ]
    items = [" ".join(shared[place].split()[2:14]) for place in (0, 3)]
    return documents, [*items, "nothing of it is there at all"]


PIECES, ITEMS = made_pieces()


@pytest.fixture(scope="module")
def answers(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("connect")
    given = folder / "texts.json"
    given.write_text(json.dumps([texts, PIECES, ITEMS]))
    # A server that runs already takes these only; the others are its own.
    settings = {key: value for key, value in QUIET.items() if key.startswith("spark.sql.")}
    environment = {key: value for key, value in os.environ.items() if key != "SPARK_REMOTE"}
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), str(given), json.dumps(settings)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-4000:]
    return json.loads(ran.stdout.splitlines()[-1])


VISITS = [(f"user {number * number % 701}", number % 3) for number in range(5000)]


def counted(users: list[str]) -> crivo.HyperLogLog:
    sketch = crivo.HyperLogLog()
    sketch.insert_batch(users)
    return sketch


def test_sketches_are_those_of_one_machine(answers: Any) -> None:
    whole = counted([user for user, _ in VISITS])
    assert answers["hll"] == bytes(whole).hex()
    days = {str(day): counted([user for user, of in VISITS if of == day]) for day in range(3)}
    assert answers["groups"] == {day: bytes(sketch).hex() for day, sketch in days.items()}
    assert answers["estimates"] == {day: sketch.estimate().value for day, sketch in days.items()}
    members = crivo.Bloom.for_items(100_000, 0.01)
    members.insert_batch([user for user, _ in VISITS])
    assert answers["bloom"] == bytes(members).hex()
    assert answers["parallelism"] == 2
    assert "expected one of 'user', 'day', found 'nobody'" in answers["refused"]


def test_near_duplicates_are_those_of_one_machine(answers: Any, texts: list[str]) -> None:
    one = crivo.near_duplicates(texts, 0.6, linking="chains")
    assert len(one.pairs) > 20
    in_pairs = {place for pair in one.pairs for place in pair[:2]}
    assert answers["clusters"] == {
        str(place): kept for place, kept in enumerate(one.clusters.tolist()) if place in in_pairs
    }
    kept = crivo.near_duplicates(texts, 0.6)
    assert answers["kept"] == kept.kept.tolist()
    assert answers["removed"] == [list(row) for row in kept.removed] and len(kept.removed) > 20
    assert answers["pairs"] == [list(pair) for pair in one.pairs]


def test_pieces_of_documents_are_those_of_one_machine(answers: Any) -> None:
    one = crivo.repeated_passages(PIECES, min_words=10)
    assert len(one.passages) >= 25
    assert answers["repeated"] == sorted(list(passage) for passage in one.passages)
    left = dict(one.changed)
    assert answers["passages"] == [[place, left.get(place, PIECES[place])] for place in one.kept.tolist()]
    hits = crivo.benchmark_overlap(PIECES, ITEMS, words=6, cut="words")
    assert hits.documents_hit == 12
    assert answers["hits"] == sorted(list(hit) for hit in hits.hits)
    cut = dict(hits.changed)
    assert answers["overlap"] == [[place, cut.get(place, PIECES[place])] for place in hits.kept.tolist()]


def test_a_stream_has_the_sketches_of_one_machine(answers: Any) -> None:
    for day in range(3):
        one = crivo.HyperLogLog(10)
        users = [user for user, of in VISITS if of == day]
        one.insert_batch(users)
        assert answers["stream"][str(day)] == [bytes(one).hex(), len(users), 0]


def test_joins_profiles_and_exchange(answers: Any) -> None:
    assert answers["joined"] == [number * 31 for number in range(40)]
    theta = Theta()
    theta.insert_batch([user for user, _ in VISITS])
    distinct = len({user for user, _ in VISITS})
    assert answers["theta"] == theta.estimate().value == distinct
    assert answers["hll_again"] == pytest.approx(distinct, rel=0.1)
    assert answers["profile"] == {"user": distinct, "day": 3}
