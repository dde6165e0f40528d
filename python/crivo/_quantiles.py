"""Which values have these ranks?"""

from collections.abc import Iterable
from typing import Any

from crivo._native import Estimate, NumberQuantiles


def quantiles(
    values: Any, shares: Iterable[float] = (0.25, 0.5, 0.75), *, error: float = 0.005, seed: int = 0
) -> list[Estimate | None]:
    """The numbers below which these shares of all values lie, each with bounds at 95 %. None without a value.

    `values` is a list or other iterable, a NumPy array, or a column of pandas, polars or Arrow. Ranks
    are right to within `error`, a share of all, 95 % sure. While there are few values, answers are exact.

    >>> import crivo
    >>> [found.value for found in crivo.quantiles(range(1, 101), [0.5, 0.9]) if found]
    [50.0, 90.0]
    """
    sketch = NumberQuantiles.for_bound(error, seed=seed)
    sketch.insert_batch(values)
    return sketch.quantiles(shares)


quantiles.__module__ = "crivo"
