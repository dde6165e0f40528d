"""Estimate: a value with bounds."""

import copy
import pickle

import pytest

from crivo import Estimate, InvalidParameterError


def test_parts_and_containment() -> None:
    estimate = Estimate(100, 90, 115, 0.9)
    assert (estimate.value, estimate.lower, estimate.upper, estimate.confidence) == (100, 90, 115, 0.9)
    assert estimate.relative_error == pytest.approx(0.15)
    assert not estimate.certain
    assert 90 in estimate
    assert 115.0 in estimate
    assert 89.9 not in estimate
    assert 116 not in estimate
    assert float("nan") not in estimate
    assert float(estimate) == 100.0


def test_certainty_is_a_confidence_of_one() -> None:
    assert Estimate(5, 4, 6, confidence=1.0).certain
    with pytest.raises(InvalidParameterError, match="confidence"):
        Estimate(5, 4, 6, confidence=1.5)


def test_bounds_never_exclude_the_value() -> None:
    estimate = Estimate(5, 7, 3)
    assert (estimate.lower, estimate.upper) == (5, 5)


def test_text_forms() -> None:
    estimate = Estimate(1_702_788, 1_689_000, 1_716_000)
    assert str(estimate) == "1 702 788 ± 0.8 %"
    assert repr(estimate) == "Estimate(1702788.0, 1689000.0, 1716000.0, confidence=0.95)"
    assert eval(repr(estimate)) == estimate


def test_the_value_stands_in_for_a_number() -> None:
    estimate = Estimate(1_702_788.75, 1_689_000, 1_716_000)
    assert int(estimate) == 1_702_788 and isinstance(round(estimate), int)
    assert (round(estimate), round(estimate, 1), round(estimate, -3)) == (1_702_789, 1_702_788.8, 1_703_000)
    assert f"{estimate:.2f} {estimate:,.0f} {estimate:>12.1e}" == "1702788.75 1,702,789      1.7e+06"
    assert f"{estimate}" == format(estimate, "") == str(estimate)
    with pytest.raises(ValueError):
        format(estimate, "words")
    with pytest.raises(OverflowError):
        int(Estimate(float("inf"), 0, 1))


def test_equality_copies_and_pickles() -> None:
    estimate = Estimate(100, 90, 115, 0.9)
    assert estimate == Estimate(100, 90, 115, 0.9)
    assert estimate != Estimate(100, 90, 115, 0.95)
    assert estimate != 100
    assert pickle.loads(pickle.dumps(estimate)) == copy.deepcopy(estimate) == copy.copy(estimate) == estimate


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Estimate(1, 1, 1).value = 2  # type: ignore[misc]
