"""How often, without seeing anyone's value? Protocol, client and server."""

import pickle
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from columns import refused

from crivo import (
    BudgetExceededError,
    DecodeError,
    IncompatibleError,
    KeyTypeError,
    PrivateClient,
    PrivateCountMean,
    Protocol,
)

SMALL = Protocol(4.0, 16, 64)


def test_protocols_are_values() -> None:
    protocol = Protocol(0.5, 100, 13, keys="int", seed=7)
    assert protocol == Protocol(0.5, 100, 13, keys="int", seed=7) != Protocol(0.5, 100, 13, keys="int")
    assert pickle.loads(pickle.dumps(protocol)) == protocol == Protocol.from_header(protocol.header())
    assert eval(repr(protocol)) == protocol
    assert (protocol.epsilon, protocol.rows, protocol.width) == (0.5, 100, 13)
    assert (protocol.keys, protocol.seed, protocol.record_len) == ("int", 7, 8)
    assert protocol.flip_probability == pytest.approx(1 / (1 + np.exp(0.25)))
    assert Protocol.for_reports(4.0, 10_000_000).rows > Protocol.for_reports(4.0, 1000).rows


def test_what_is_no_protocol_is_refused() -> None:
    assert refused(Protocol, 0, 16, 64).startswith("epsilon: expected 0.001 to 32")
    assert refused(Protocol, 1, 0, 64) == "rows: expected 1 to 65536, found 0"
    assert refused(Protocol, 1, 16, 1) == "width: expected 2 to 1048576, found 1"
    assert "reports" in refused(Protocol.for_reports, 1, -1)
    with pytest.raises(DecodeError) as caught:
        Protocol.from_header(b"CRVO" + bytes(32))
    assert caught.value.kind == "foreign"


def test_a_client_keeps_to_its_budget() -> None:
    client = PrivateClient(SMALL, 10.0)
    for spent in (4.0, 8.0):
        assert len(client.encode("x")) == SMALL.record_len
        assert (client.spent, client.remaining) == (spent, 10.0 - spent)
    with pytest.raises(BudgetExceededError, match="2 left of 10"):
        client.encode("x")
    assert client.spent == 8
    later = PrivateClient(SMALL, 10.0, spent=client.spent)
    with pytest.raises(BudgetExceededError):
        later.encode("x")
    assert "budget" in refused(PrivateClient, SMALL, 0)
    assert "spent" in refused(PrivateClient, SMALL, 1, spent=-1)


def test_coins_are_the_operating_system_s_unless_the_name_says_otherwise() -> None:
    reports = {PrivateClient(SMALL, 4.0).encode("x") for _ in range(20)}
    assert len(reports) == 20
    same = {PrivateClient.with_predictable_coins(SMALL, 4.0, 7).encode("x") for _ in range(20)}
    assert len(same) == 1
    assert PrivateClient.with_predictable_coins(SMALL, 4.0, 7).is_predictable
    assert "not private" in repr(PrivateClient.with_predictable_coins(SMALL, 4.0, 7))
    assert not PrivateClient(SMALL, 4.0).is_predictable
    with pytest.raises(TypeError):
        PrivateClient(SMALL, 4.0, seed=7)  # type: ignore[call-arg]


def test_a_secret_client_is_not_copied_by_pickling() -> None:
    with pytest.raises(TypeError):
        pickle.dumps(PrivateClient(SMALL, 4.0))


def test_reports_of_the_system_s_coins_flip_bits_as_often_as_promised() -> None:
    """Of 200,000 bits; twelve standard deviations, so no luck fails it."""
    protocol = Protocol(2.0, 1, 1000)
    client = PrivateClient(protocol, 1e9)
    ones = sum(int.from_bytes(client.encode("x")[2:-4], "little").bit_count() for _ in range(200))
    expected = 200 * (999 * protocol.flip_probability + 1 - protocol.flip_probability)
    assert abs(ones - expected) < 12 * (200_000 * 0.27 * 0.73) ** 0.5


def answers(count: int = 4000) -> PrivateCountMean:
    protocol = Protocol.for_reports(4.0, count)
    client = PrivateClient.with_predictable_coins(protocol, 1e9, 5)
    sketch = PrivateCountMean(protocol)
    for person in range(count):
        sketch.insert(client.encode("yes" if person % 4 else "no"))
    return sketch


def test_frequencies_are_found() -> None:
    sketch = answers()
    assert (sketch.reports, sketch.protocol.epsilon) == (4000, 4.0)
    for key, truth in (("yes", 3000), ("no", 1000), ("perhaps", 0)):
        assert truth in sketch.frequency(key, confidence=1 - 1e-9)
        assert abs(sketch.unbiased(key) - truth) < 600
    keys = ["yes", "no", None, "perhaps"]
    for column in (keys, iter(keys), pa.array(keys), np.array(keys, dtype=object)):
        found = sketch.frequencies(column)
        assert found.tolist() == [
            sketch.unbiased("yes"),
            sketch.unbiased("no"),
            0,
            sketch.unbiased("perhaps"),
        ]


def test_records_come_one_by_one_or_together() -> None:
    client = PrivateClient.with_predictable_coins(SMALL, 1e9, 5)
    records = [client.encode(f"key {i % 7}") for i in range(300)]
    one_by_one, together = PrivateCountMean(SMALL), PrivateCountMean(SMALL)
    for record in records:
        one_by_one.insert(record)
    together.insert_records(b"".join(records))
    assert one_by_one == together
    half = PrivateCountMean(SMALL)
    half.insert_records(bytearray(b"".join(records[:100])))
    other = PrivateCountMean(SMALL)
    other.insert_records(memoryview(b"".join(records[100:])))
    assert half | other == together


def test_reports_that_are_damaged_or_of_another_protocol_change_nothing() -> None:
    sketch = PrivateCountMean(SMALL)
    good = PrivateClient(SMALL, 4.0).encode("x")
    foreign = PrivateClient(Protocol(3.9, 16, 64), 4.0).encode("x")
    damaged = bytes([good[0], good[1], good[2] ^ 1]) + good[3:]
    for wrong, kind in (
        (foreign, "damaged"),
        (damaged, "damaged"),
        (good[:-1], "truncated"),
        (good + b"x", "trailing_bytes"),
    ):
        with pytest.raises(DecodeError) as caught:
            sketch.insert(wrong)
        assert caught.value.kind == kind
    with pytest.raises(DecodeError, match="report 2"):
        sketch.insert_records(good + damaged + good)
    assert sketch.is_empty
    with pytest.raises(IncompatibleError):
        sketch.merge(PrivateCountMean(Protocol(3.9, 16, 64)))
    wrong_type: Any
    for wrong_type in ("text", 3, None):
        with pytest.raises(TypeError):
            sketch.insert(wrong_type)


def test_kinds_of_keys_are_kept() -> None:
    integers = PrivateClient(Protocol(4.0, 16, 64, keys="int"), 1e9)
    integers.encode(7)
    with pytest.raises(KeyTypeError):
        integers.encode("7")
    hashes = Protocol(4.0, 16, 64, keys="hash")
    client, sketch = PrivateClient(hashes, 1e9), PrivateCountMean(hashes)
    with pytest.raises(KeyTypeError, match="encode_hash"):
        client.encode("x")
    for _ in range(100):
        sketch.insert(client.encode_hash(2**63))
    assert 100 in sketch.frequency_of_hash(2**63, confidence=1 - 1e-9)
    assert sketch.frequencies_of_hashes(np.array([2**63, 5], "u8")).shape == (2,)
    with pytest.raises(KeyTypeError):
        sketch.frequency("x")
