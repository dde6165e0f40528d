"""Writes the documentation of the installed native module into its stub, `_native.pyi`.

A test compares the two, so this is to be run after doc comments of `crates/crivo-py` have changed:
`cargo xtask stubs`.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from crivo import _native


def documented(stub: ast.Module) -> Iterator[tuple[ast.Expr, str]]:
    """Returns every docstring of a public class, method or function, and the text that it should be."""
    classes = {item.name: item for item in stub.body if isinstance(item, ast.ClassDef)}
    for item in stub.body:
        if isinstance(item, ast.FunctionDef) and hasattr(_native, item.name):
            yield from with_text(item, getattr(_native, item.name))
    for name, cls in classes.items():
        # What several classes have in common is in a class of the stub alone, and the same in each of them.
        owner = getattr(_native, name, None) or first_heir(name, classes)
        if not name.startswith("_"):
            yield from with_text(cls, owner)
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                yield from with_text(method, getattr(owner, method.name))


def first_heir(base: str, classes: dict[str, ast.ClassDef]) -> type:
    """Returns a class of the module that the stub derives from `base`, directly or through another."""
    for name, cls in classes.items():
        if any(isinstance(parent, ast.Name) and parent.id == base for parent in cls.bases):
            heir: type = getattr(_native, name, None) or first_heir(name, classes)
            return heir
    raise LookupError(f"{base}: expected a class of the stub that derives from it, found none")


def with_text(item: ast.ClassDef | ast.FunctionDef, owner: object) -> Iterator[tuple[ast.Expr, str]]:
    text = inspect.getdoc(owner)
    first = item.body[0]
    if ast.get_docstring(item) is not None and isinstance(first, ast.Expr) and text is not None:
        yield first, text


def rewritten(source: str) -> str:
    lines = source.split("\n")
    found = sorted(documented(ast.parse(source)), key=lambda pair: pair[0].lineno, reverse=True)
    for place, text in found:
        if text == inspect.cleandoc(ast.literal_eval(place.value)):
            continue
        margin = " " * place.col_offset
        quotes = 'r"""' if "\\" in text else '"""'
        first, *others = text.split("\n")
        written = [f"{margin}{quotes}{first}", *(f"{margin}{line}".rstrip() for line in others)]
        if others:
            written.append(f'{margin}"""')
        else:
            written[-1] += '"""'
        assert place.end_lineno is not None
        lines[place.lineno - 1 : place.end_lineno] = written
    return "\n".join(lines)


if __name__ == "__main__":
    stub = Path(sys.argv[1])
    stub.write_text(rewritten(stub.read_text(encoding="utf-8")), encoding="utf-8")
