"""Near-duplicates, passages and overlaps on Spark are those that one machine finds."""

import gc
import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import crivo
from crivo import CrivoError, InvalidParameterError, KeyTypeError
from crivo.distributed import LARGEST_BUCKET
from crivo.spark import (
    benchmark_overlap,
    clusters,
    dedup,
    near_duplicates,
    overlap,
    passages,
    removed,
    repeated_passages,
)


def table(spark: SparkSession, texts: list[Any], partitions: int = 4) -> DataFrame:
    """Each text with its place, in another order."""
    rows = list(enumerate(texts))
    random.Random(3).shuffle(rows)
    return spark.createDataFrame(rows, "id bigint, text string").repartition(partitions)


def found(pairs: DataFrame) -> list[tuple[Any, Any, float]]:
    return sorted((row["a"], row["b"], row["similarity"]) for row in pairs.collect())


@pytest.mark.parametrize(
    ("threshold", "settings"),
    [(0.8, {}), (0.6, {"shingle": "words:3", "seed": 9}), (0.5, {"shingle": "chars:9", "hashes": 64})],
)
def test_pairs_and_clusters_are_those_of_one_machine(
    spark: SparkSession, texts: list[str], threshold: float, settings: dict[str, Any]
) -> None:
    one = crivo.near_duplicates(texts, threshold, linking="chains", **settings)
    assert len(one.pairs) > 20
    pairs = near_duplicates(table(spark, texts), "id", "text", threshold, **settings)
    assert pairs.columns == ["a", "b", "similarity"]
    assert found(pairs) == one.pairs
    expected = {(place, kept) for place, kept in enumerate(one.clusters.tolist())}
    named = {(row["id"], row["cluster"]) for row in clusters(pairs).collect()}
    in_pairs = {place for pair in one.pairs for place in pair[:2]}
    assert named == {(place, kept) for place, kept in expected if place in in_pairs}


def test_text_ids_and_given_bands(spark: SparkSession, texts: list[str]) -> None:
    bands = crivo.Bands(32, 3)
    # The first, which is much like another, has the empty text as its id.
    first = next(pair[0] for pair in crivo.near_duplicates(texts, 0.5).pairs if pair[2] < 1)
    texts = [texts[first], *texts[:first], *texts[first + 1 :]]
    names = ["", *(f"doc {place:04}" for place in range(1, len(texts)))]
    one = crivo.near_duplicates(texts, 0.5, bands=bands, ids=names)
    df = spark.createDataFrame(
        list(zip(names, texts, strict=True)), "`the id` string, text string"
    ).repartition(3)
    assert found(near_duplicates(df, "the id", "text", 0.5, bands=bands)) == one.pairs
    assert any(pair[0] == "" and pair[2] < 1 for pair in one.pairs)


def test_a_very_large_bucket_becomes_a_star(spark: SparkSession) -> None:
    chance = random.Random(5)
    words = [chance.choice("abcdefghij") * 3 + str(chance.randrange(999)) for _ in range(300)]
    texts = []
    for number in range(LARGEST_BUCKET + 40):
        changed = list(words)
        changed[chance.randrange(300)] = f"x{number}"
        texts.append(" ".join(changed))
    # Twins of some, and more of one than are compared each with each.
    texts += texts[:5] + ["the very same words again and again"] * (LARGEST_BUCKET + 1)
    one = crivo.near_duplicates(texts, 0.9)
    assert one.pairs and len(one.pairs) < 550 * 549 // 2
    assert found(near_duplicates(table(spark, texts), "id", "text", 0.9)) == one.pairs


def test_pages_and_missing_texts(spark: SparkSession) -> None:
    pages = ["<p>one <b>two</b> three</p>", None, "one two three", "<script>one two three</script>", None, ""]
    one = crivo.near_duplicates(pages, shingle="words:2", html=True)
    pairs = near_duplicates(table(spark, pages), "id", "text", shingle="words:2", html=True)
    assert found(pairs) == one.pairs == [(0, 2, 1.0)]


def test_no_documents_and_none_alike(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], "id bigint, text string")
    pairs = near_duplicates(empty, "id", "text")
    assert found(pairs) == [] and clusters(pairs).collect() == []
    different = table(spark, [f"{n} a{n} b{n} c{n} d{n} e{n}" for n in range(50)])
    assert found(near_duplicates(different, "id", "text")) == []


def test_a_giant_document_does_not_stop_the_others(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crivo.spark._near.TEXT_AT_ONCE", 1 << 16)
    giant = " ".join(f"w{number % 99_991}" for number in range(400_000))
    texts = [giant, "a b c d e f g", giant + " end", "a b c d e f g"]
    one = crivo.near_duplicates(texts)
    assert found(near_duplicates(table(spark, texts, 1), "id", "text")) == one.pairs
    assert len(one.pairs) == 2


def test_many_pairs_of_one_home_are_compared_at_several_places(
    spark: SparkSession, texts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crivo.spark._near.PAIRS_AT_ONE_PLACE", 1)
    one = crivo.near_duplicates(texts, 0.6)
    assert found(near_duplicates(table(spark, texts), "id", "text", 0.6)) == one.pairs


def test_dedup_keeps_what_one_machine_keeps(spark: SparkSession, texts: list[str]) -> None:
    holed = [None if place % 17 == 0 else text for place, text in enumerate(texts)]
    kept = crivo.near_duplicates(holed, 0.7).kept.tolist()
    read = spark.sparkContext.accumulator(0)

    def counted(batches: Any) -> Any:
        for batch in batches:
            read.add(batch.num_rows)
            yield batch

    documents = table(spark, holed).mapInArrow(counted, "id bigint, text string")
    documents = documents.selectExpr("id % 3 as other", "text", "id as `the.id`")
    found = dedup(documents, "the.id", "text", 0.7)
    gc.collect()
    assert found.columns == documents.columns
    for _ in range(2):
        before = read.value
        rows = found.collect()
        assert read.value - before == len(holed), "the rows are read once, and nothing is compared again"
    assert sorted(row["the.id"] for row in rows) == kept
    assert all(row["text"] == holed[row["the.id"]] for row in rows)
    held = spark.sparkContext._jsc.getPersistentRDDs().size()
    del found
    gc.collect()
    assert spark.sparkContext._jsc.getPersistentRDDs().size() < held, "what was cached is forgotten"


# Every two of the three rules meet in every way.
@pytest.mark.parametrize(
    ("keep", "linking", "fast"),
    [
        ("first", "kept", False),
        ("first", "chains", True),
        ("longest", "kept", True),
        ("longest", "chains", False),
    ],
)
def test_what_stays_and_why_is_that_of_one_machine(
    spark: SparkSession, texts: list[str], keep: Any, linking: Any, fast: bool
) -> None:
    # Some contents several times, and in chains, so that every rule decides something.
    repeated = [*texts, *texts[::7], *(f"{text} and a few words more" for text in texts[::5])]
    documents = table(spark, repeated)
    one = crivo.near_duplicates(repeated, 0.6, keep=keep, linking=linking, fast=fast)
    rows = dedup(documents, "id", "text", 0.6, keep=keep, linking=linking, fast=fast).collect()
    assert sorted(row["id"] for row in rows) == one.kept.tolist()
    if linking == "chains":
        return  # a document of a chain may be unlike the one that stays, so that there is no certificate
    certificate = removed(documents, "id", "text", 0.6, keep=keep, fast=fast)
    assert certificate.columns == ["id", "kept", "similarity"]
    assert sorted(map(tuple, certificate.collect())) == one.removed
    assert len(one.removed) > 50


def test_rules_that_are_not_known_are_refused(spark: SparkSession) -> None:
    df = table(spark, ["a"])
    with pytest.raises(InvalidParameterError, match="keep: expected 'first' or 'longest', found 'last'"):
        dedup(df, "id", "text", keep="last")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="linking: expected 'kept' or 'chains', found 'stars'"):
        dedup(df, "id", "text", linking="stars")  # type: ignore[arg-type]
    assert removed(df, "id", "text").collect() == []


def test_chains_and_rings_are_one_cluster(spark: SparkSession) -> None:
    chain = [(number, number + 1) for number in range(100, 160)]
    random.Random(1).shuffle(chain)
    ring = [(number, (number + 1) % 30) for number in range(30)]
    pairs = spark.createDataFrame([*chain, *ring, (900, 901), (901, 900), (7000, 7000)], "a int, b int")
    named = dict(clusters(pairs).collect())
    assert named == {**{n: 100 for n in range(100, 161)}, **{n: 0 for n in range(30)}, 900: 900, 901: 900}
    with pytest.raises(CrivoError, match="not done after 1 rounds"):
        clusters(pairs, max_rounds=1)


def test_two_documents_of_one_id_are_noticed(spark: SparkSession) -> None:
    same = "a b c d e f g h i j"
    df = spark.createDataFrame([(1, same), (2, same + " k"), (1, "l m n o p")], "id int, text string")
    with pytest.raises(Exception, match="expected one document for each, found two with '1'"):
        near_duplicates(df, "id", "text", 0.5).collect()


@pytest.mark.parametrize(
    ("arguments", "named", "error", "message"),
    [
        (("id", "txt"), {}, InvalidParameterError, "text: expected one of 'id', 'text', found 'txt'"),
        (("id", "id"), {}, KeyTypeError, "text 'id': expected text or bytes, found bigint"),
        (("id", "text", 0.0), {}, InvalidParameterError, "threshold"),
        (("id", "text", 1.5), {}, InvalidParameterError, "threshold"),
        (("id", "text"), {"shingle": "words:0"}, InvalidParameterError, "shingle"),
        (("id", "text"), {"hashes": 10, "bands": crivo.Bands(4, 4)}, InvalidParameterError, "bands"),
    ],
)
def test_what_cannot_be_done_is_said_before_anything_is_run(
    spark: SparkSession, arguments: Any, named: Any, error: type[CrivoError], message: str
) -> None:
    df = table(spark, ["a"])
    with pytest.raises(error) as refused:
        near_duplicates(df, *arguments, **named)
    assert message in str(refused.value)
    with pytest.raises(KeyTypeError, match="id 'id': expected integers or text, found double"):
        near_duplicates(df.selectExpr("double(id) id", "text"), "id", "text")


# ---- pieces of documents: in this module, because a session of their own would take ten seconds more ----


@pytest.fixture(scope="module")
def pieces() -> list[str | None]:
    """Documents made of a few passages, changed here and there; some are missing, empty, or in Chinese."""
    chance = random.Random(4)
    words = [f"W{number}" for number in range(60)]
    shared = [[chance.choice(words) for _ in range(chance.randrange(10, 60))] for _ in range(6)]
    made: list[str | None] = []
    for _ in range(70):
        text: list[str] = []
        for _ in range(chance.randrange(4)):
            text += [chance.choice(words) for _ in range(chance.randrange(8))]
            passage = list(shared[chance.randrange(6)])
            if chance.randrange(3) == 0:
                passage[chance.randrange(len(passage))] = "Changed"
            text += passage[chance.randrange(5) :]
        made.append("".join(word + chance.choice([" ", ", ", ".\n", " \u2014 "]) for word in text))
    again = "".join(chr(0x4E00 + 7 * number) for number in range(40))
    made[7], made[20], made[41] = None, "", f"\u524d\u3002{again}"
    return [*made, f"\u5f8c\u3001{again}\u3002", "again " * 60, None]


def test_passages_are_those_of_one_machine(spark: SparkSession, pieces: list[str | None]) -> None:
    """With ids of text, and texts of bytes."""
    names = [f"doc {place:03}" for place in range(len(pieces))]
    one = crivo.repeated_passages(pieces, min_words=10, min_count=3)
    assert len(one.passages) > 20
    documents = table(spark, pieces).selectExpr(
        "concat('doc ', lpad(cast(id as string), 3, '0')) as `the id`", "cast(text as binary) as text"
    )
    places = repeated_passages(documents, "the id", "text", min_words=10, min_count=3)
    assert places.columns == ["id", "start", "end", "first_id", "first_start", "first_end"]
    assert sorted(map(tuple, places.collect())) == sorted(
        (names[text], start, end, names[first], *rest) for text, start, end, first, *rest in one.passages
    )


def test_what_is_left_without_passages_is_that_of_one_machine(
    spark: SparkSession, pieces: list[str | None]
) -> None:
    settings: dict[str, Any] = {"min_words": 14, "within": True, "cut": "sentence", "min_left": 5}
    one = crivo.repeated_passages(pieces, **settings)
    changed = dict(one.changed)
    assert len(changed) > 10 and len(one.kept) < len(pieces)
    left = passages(table(spark, pieces), "id", "text", **settings)
    assert left.columns == ["id", "text"]
    expected = [(place, changed.get(place, pieces[place])) for place in one.kept.tolist()]
    assert sorted(map(tuple, left.collect()), key=lambda row: row[0]) == expected


def test_overlaps_are_those_of_one_machine(spark: SparkSession, pieces: list[str | None]) -> None:
    documents = table(spark, pieces)
    chance = random.Random(9)
    long = [text for text in pieces if text and len(text.split()) > 30]
    items: list[str | None] = [" ".join(chance.choice(long).split()[5:20]) for _ in range(12)]
    items += ["W3 W4", None, "nothing of it is there at all, not one word"]
    benchmark = spark.createDataFrame([(item,) for item in items], "question string").coalesce(1)
    for cut in ("document", "words"):
        one = crivo.benchmark_overlap(pieces, items, words=6, share=0.6, cut=cut)
        assert one.documents_hit > 3
        changed = dict(one.changed)
        expected = [(place, changed.get(place, pieces[place])) for place in one.kept.tolist()]
        left = overlap(documents, "text", benchmark, benchmark_column="question", words=6, share=0.6, cut=cut)
        assert sorted(map(tuple, left.collect()), key=lambda row: row[0]) == expected
    hits = benchmark_overlap(documents, "id", "text", items, words=6, share=0.6)
    assert sorted(map(tuple, hits.collect())) == sorted(one.hits)


def test_pieces_of_columns_with_any_names_are_found(spark: SparkSession) -> None:
    passage = "a b c d e f g h"
    rows = [(0, "x", f"So: {passage}.", 1), (1, "y", f"And {passage}, too.", 2)]
    df = spark.createDataFrame(rows, "`the.id` bigint, `a ``b``.c` string, `the.text` string, other int")
    df = df.toDF("the.id", "a `b`.c", "the.text", "a `b`.c")
    left = passages(df, "the.id", "the.text", min_words=8)
    assert left.columns == df.columns
    expected = [rows[0], (1, "y", "And , too.", 2)]
    assert sorted(map(tuple, left.collect())) == expected
    for cut, kept in (("document", rows[:1]), ("words", [rows[0], (1, "y", "And , too.", 2)])):
        left = overlap(df, "the.text", [f"and {passage}"], words=9, cut=cut)  # type: ignore[arg-type]
        assert left.columns == df.columns
        assert len(left.collect()) == len(kept)


def test_pieces_that_cannot_be_looked_for_are_refused(spark: SparkSession) -> None:
    empty = spark.createDataFrame([], "id bigint, text string")
    assert overlap(empty, "text", ["two plus two"]).collect() == []
    with pytest.raises(CrivoError, match="8 to 50000"):
        passages(empty, "id", "text", min_words=7)
    with pytest.raises(InvalidParameterError, match="min_count"):
        passages(empty, "id", "text", min_count=1)
    with pytest.raises(InvalidParameterError, match="cut"):
        passages(empty, "id", "text", cut="half")  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="share"):
        overlap(empty, "text", ["two plus two"], share=0)
    with pytest.raises(KeyTypeError, match="text 'id'"):
        overlap(empty, "id", ["two plus two"])
    with pytest.raises(KeyTypeError, match="id 'id'"):
        passages(empty.selectExpr("current_date() as id", "text"), "id", "text")
