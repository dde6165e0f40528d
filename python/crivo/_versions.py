"""Which versions of another package was crivo tested with?"""

import warnings


def warn_untested(name: str, found: str, oldest: str, newest: str) -> None:
    """Names a version outside of those that the tests ran with."""
    if not key(oldest) <= key(found) <= key(newest):
        tested = newest if oldest == newest else f"{oldest} to {newest}"
        message = f"crivo was tested with {name} {tested}, found {found}: answers may fail"
        warnings.warn(message, stacklevel=3)


def key(version: str) -> tuple[int, ...]:
    """The first two numbers of a version."""
    numbers = []
    for part in version.split(".")[:2]:
        digits = "".join(character for character in part if character.isdigit())
        numbers.append(int(digits or 0))
    return tuple(numbers)
