"""A key with the bounds of its count."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hitter:
    """A key that may be frequent, with bounds of its true count that no input can break.

    >>> from crivo import HeavyHitters
    >>> pages = HeavyHitters(100)
    >>> pages.insert_batch(["/home", "/about", "/home"])
    0
    >>> first = pages.top(1)[0]
    >>> first.key, first.count, first.is_exact
    ('/home', 2, True)
    """

    key: str | bytes | int
    """Text as str (as bytes if it is not UTF-8), an integer with its sign, a hash without one."""

    count: int
    """The middle between the bounds, rounded down: no other answer can be wrong by less."""

    lower: int
    """The key came at least so often."""

    upper: int
    """The key came at most so often; 2^64 - 1 stands for any number above it too."""

    @property
    def is_exact(self) -> bool:
        """Whether the count is exact."""
        return self.lower == self.upper < 2**64 - 1


# It is imported, and pickled, from the package.
Hitter.__module__ = "crivo"
