"""An empty sketch by its short name, with the sizes that the command line gives it.

Polars and pandas take the names in `KINDS`. Spark takes them too, and the names in `QUESTIONS`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import crivo
from crivo.errors import InvalidParameterError, KeyTypeError

KINDS = ("hll", "ull", "kmv", "bloom", "countmin", "top", "kll")

PRECISION = 14
"""Of sketches that count different values: 0.8 % of error."""

COUNTERS = 1 << 14
"""The values that `top` keeps in view."""

QUANTILE_ERROR = 0.005

SAMPLED = 100
"""The values that `sample` draws."""

QUESTIONS = ("distinct", "membership", "frequency", "top", "sample")
"""Names of questions, for which `question_sketch` finds a kind."""


def question_sketch(kind: Any, parameters: dict[str, Any], advice: Mapping[str, str]) -> Any:
    """The empty sketch that answers a question, or the one that `empty_sketch` makes of a kind. `advice` says
    what to do instead of giving a sketch of a class that needs more than values.
    """
    if not isinstance(kind, str):
        return given(kind, parameters, advice)
    options = dict(parameters)
    match kind:
        case "distinct":
            return empty_sketch(distinct_kind(options.pop("method", "hll")), options, kind)
        case "membership":
            return empty_sketch("bloom", options, kind)
        case "frequency":
            return empty_sketch("countmin", options, kind)
        case "sample":
            common = {name: options.pop(name) for name in ("keys", "seed") if name in options}
            capacity = options.pop("capacity", SAMPLED)
            refuse_others(kind, options)
            return crivo.Reservoir(capacity, **common)
        case _ if kind in KINDS:
            return empty_sketch(kind, options)
        case _:
            expected = ", ".join(f"'{name}'" for name in dict.fromkeys((*QUESTIONS, *KINDS)))
            raise InvalidParameterError(f"kind: expected {expected} or an empty sketch, found {kind!r}")


def refuse_others(name: str, options: dict[str, Any]) -> None:
    """Raises an error if a parameter is left that nothing took."""
    if options:
        raise InvalidParameterError(f"{name}: has no parameter {', '.join(sorted(options))}")


def empty_sketch(kind: Any, parameters: dict[str, Any], name: str | None = None) -> Any:
    """The empty sketch that a kind and its parameters ask for; None for a filter of an unknown number of
    values, which has to be counted first. `kind` may also be an empty sketch; a copy of it is
    returned. Errors call the kind by the `name` that the caller gave it.
    """
    if not isinstance(kind, str):
        return given(kind, parameters)
    called = kind if name is None else name
    options = dict(parameters)
    common = {name: options.pop(name) for name in ("keys", "seed") if name in options}
    sketch: Any
    match kind:
        case "hll" | "ull":
            cls: Any = crivo.HyperLogLog if kind == "hll" else crivo.UltraLogLog
            size, value = one_of(called, options, ("error", "precision"), "precision", PRECISION)
            sketch = cls.for_error(value, **common) if size == "error" else cls(value, **common)
        case "kmv":
            size, value = one_of(called, options, ("error", "k"), "k", 1 << PRECISION)
            smallest = crivo.KMinValues
            sketch = smallest.for_error(value, **common) if size == "error" else smallest(value, **common)
        case "bloom":
            items, rate = options.pop("items", None), options.pop("rate", 0.01)
            # The rate is checked also where the items are not known yet.
            sketch = crivo.Bloom.for_items(1 if items is None else items, rate, **common)
            sketch = None if items is None else sketch
        case "countmin":
            error, confidence = options.pop("error", 0.001), options.pop("confidence", 0.99)
            if not 0 < confidence < 1:
                raise InvalidParameterError(
                    f"confidence: expected more than 0 and less than 1, found {confidence}"
                )
            # The same subtraction as the command line's, so that the sizes are the same too.
            sketch = crivo.CountMin.for_bound(error, 1.0 - confidence, **common)
        case "top":
            sketch = crivo.HeavyHitters(options.pop("counters", COUNTERS), **common)
        case "kll":
            if "keys" in common:
                raise InvalidParameterError("keys: a sketch of numbers has none")
            accuracy = "tails" if options.pop("tails", False) else "uniform"
            error = options.pop("error", QUANTILE_ERROR)
            sketch = crivo.NumberQuantiles.for_bound(error, accuracy=accuracy, **common)
        case _:
            expected = ", ".join(f"'{name}'" for name in KINDS)
            raise InvalidParameterError(f"kind: expected {expected} or an empty sketch, found {kind!r}")
    refuse_others(called, options)
    return sketch


def one_of(
    kind: str, options: dict[str, Any], names: tuple[str, ...], usual: str, value: Any
) -> tuple[str, Any]:
    """The one of several parameters that was given, or the usual one."""
    chosen = [name for name in names if name in options]
    if len(chosen) > 1:
        raise InvalidParameterError(f"{kind}: expected {' or '.join(chosen)}, found both")
    return (chosen[0], options.pop(chosen[0])) if chosen else (usual, value)


def given(sketch: Any, parameters: dict[str, Any], advice: Mapping[str, str] = MappingProxyType({})) -> Any:
    """An empty sketch of the caller's own."""
    name = type(sketch).__name__
    mergeable = all(hasattr(sketch, verb) for verb in ("insert_batch", "merge", "to_bytes", "copy"))
    if not type(sketch).__module__.startswith("crivo") or not mergeable:
        raise KeyTypeError(f"kind: expected the name of a kind or an empty sketch, found {name}")
    for cls, needs in NEEDS_MORE:
        if isinstance(sketch, cls):
            instead = f" ({advice[name]})" if name in advice else ""
            raise InvalidParameterError(f"kind: {name} needs the {needs} of each value{instead}")
    if parameters:
        found = ", ".join(sorted(parameters))
        raise InvalidParameterError(f"{name}: a sketch has its parameters, found {found} too")
    if not sketch.is_empty:
        raise InvalidParameterError(f"kind: expected an empty sketch, found {sketch!r}")
    return sketch.copy()


NEEDS_MORE: tuple[tuple[type[Any], str], ...] = (
    (crivo.WeightedReservoir, "weight"),
    (crivo.DistinctGrowth, "row"),
    (crivo.Panes, "time"),
    (crivo.Groups, "group"),
)


def filter_of(values: Any, parameters: dict[str, Any]) -> Any:
    """A filter for a column whose different values are counted first, as `crivo set build` does without
    --items.
    """
    counted = counter_for(parameters)
    counted.insert_batch(values)
    return empty_sketch("bloom", with_items(parameters, counted))


def counter_for(parameters: dict[str, Any]) -> Any:
    """An empty sketch that counts the different values of a filter with those parameters."""
    common = {name: parameters[name] for name in ("keys", "seed") if name in parameters}
    return crivo.HyperLogLog(PRECISION, **common)


def with_items(parameters: dict[str, Any], counted: Any) -> dict[str, Any]:
    """The parameters of a filter that has room for the values that a sketch counted."""
    return {**parameters, "items": max(1, int(-(-counted.estimate().upper // 1)))}


def sketch_of(values: Any, kind: Any, parameters: dict[str, Any]) -> Any:
    """The sketch of a column."""
    sketch = empty_sketch(kind, parameters)
    sketch = filter_of(values, parameters) if sketch is None else sketch
    sketch.insert_batch(values)
    return sketch


def opened(sketch: Any, verb: str, does: str) -> Any:
    """A sketch, given as such or as its bytes, that has a method."""
    if isinstance(sketch, bytes | bytearray | memoryview):
        sketch = crivo.decode(bytes(sketch))
    if not type(sketch).__module__.startswith("crivo") or not hasattr(sketch, verb):
        found = type(sketch).__name__
        raise KeyTypeError(f"sketch: expected one that {does}, or its bytes, found {found}")
    return sketch


def distinct_kind(method: str) -> str:
    """The name of a sketch that counts different values."""
    if method not in ("hll", "ull", "kmv"):
        raise InvalidParameterError(f"method: expected 'hll', 'ull' or 'kmv', found {method!r}")
    return method


def require_share(share: Any) -> float:
    """A share of all values, from 0 to 1."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InvalidParameterError(f"q: expected a share from 0 to 1, found {share!r}")
    return float(share)
