"""The documentation holds: examples run, stubs say what the module says."""

import ast
import doctest
import importlib.metadata
import inspect
from pathlib import Path
from typing import Any

import pytest

import crivo
import crivo.distributed
import crivo.hash
import crivo.interchange
import crivo.pandas
import crivo.polars
from crivo import _native

ROOT = Path(__file__).parents[2]

NATIVE = [getattr(_native, name) for name in _native.__all__]
CLASSES = [item for item in NATIVE if isinstance(item, type)]
FUNCTIONS = [item for item in NATIVE if not isinstance(item, type)]
MEMBERS = [
    (f"{cls.__name__}.{name}", getattr(cls, name))
    for cls in CLASSES
    for name in vars(cls)
    if not name.startswith("_")
]
MODULES: list[tuple[str, Any]] = [
    ("crivo", crivo),
    ("crivo.hash", crivo.hash),
    ("crivo.interchange", crivo.interchange),
    ("crivo.distributed", crivo.distributed),
    ("crivo.dedup", crivo.dedup),
    ("crivo.profile", crivo.profile),
    ("crivo.passages", crivo.passages),
    ("crivo.overlap", crivo.overlap),
    ("crivo.polars", crivo.polars),
    ("crivo.pandas", crivo.pandas),
]
DOCUMENTED = [*MODULES, *((item.__name__, item) for item in NATIVE), *MEMBERS]


@pytest.mark.parametrize(("name", "documented"), DOCUMENTED, ids=[name for name, _ in DOCUMENTED])
def test_examples_run(name: str, documented: Any) -> None:
    text = inspect.getdoc(documented)
    assert text, f"{name} has no documentation"
    test = doctest.DocTestParser().get_doctest(text, dict(vars(crivo)), name, None, 0)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(test)
    assert runner.failures == 0


PAGES = [
    ("README.md", 4),
    ("docs/coming-from-datasketch.md", 12),
    ("docs/interchange.md", 7),
    ("docs/users/python.md", 6),
]


@pytest.mark.parametrize(("name", "least"), PAGES)
def test_the_examples_of_pages_run(name: str, least: int) -> None:
    results = doctest.testfile(str(ROOT / name), module_relative=False, encoding="utf-8")
    assert results.failed == 0 and results.attempted >= least


def test_every_page_with_examples_is_run() -> None:
    """Those of Spark are run by the tests on Spark."""
    run = {name for name, _ in PAGES} | {"docs/engines.md", "docs/spark.md"}
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    with_examples = [page for page in pages if ">>> " in page.read_text(encoding="utf-8")]
    assert {page.relative_to(ROOT).as_posix() for page in with_examples} == run


ENGINES = ROOT / "docs" / "engines.md"


def test_the_examples_of_the_page_about_engines_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those on Spark are run by the tests on Spark."""
    monkeypatch.chdir(ROOT)
    before, spark, after = ENGINES.read_text(encoding="utf-8").partition("## Spark\n")
    assert spark and ">>>" not in after.partition("\n## ")[2]
    test = doctest.DocTestParser().get_doctest(before, {}, ENGINES.name, str(ENGINES), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0 and len(test.examples) >= 20


def test_every_class_and_function_has_an_example() -> None:
    for item in NATIVE:
        assert ">>>" in (inspect.getdoc(item) or ""), item


def test_the_stub_s_documentation_is_the_module_s() -> None:
    assert crivo.__file__
    stub = ast.parse(Path(crivo.__file__).with_name("_native.pyi").read_text(encoding="utf-8"))
    classes = {cls.name: cls for cls in stub.body if isinstance(cls, ast.ClassDef)}

    def methods(cls: ast.ClassDef) -> dict[str, str | None]:
        """Those of the classes that exist only in the stub are every heir's."""
        written: dict[str, str | None] = {}
        for base in cls.bases:
            assert isinstance(base, ast.Name)
            written |= methods(classes[base.id])
        for method in cls.body:
            if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                written[method.name] = ast.get_docstring(method)
        return written

    functions = [item for item in stub.body if isinstance(item, ast.FunctionDef)]
    written = {item.name: ast.get_docstring(item) for item in functions if not item.name.startswith("_")}
    for name, cls in classes.items():
        if not name.startswith("_"):
            written[name] = ast.get_docstring(cls)
            written |= {f"{name}.{method}": text for method, text in methods(cls).items()}
    assert written == {name: inspect.getdoc(item) for name, item in DOCUMENTED if "crivo" not in name}


def test_the_version_is_that_of_the_package() -> None:
    assert crivo.__version__ == importlib.metadata.version("crivo")


def test_every_public_name_is_exported() -> None:
    for name in _native.__all__:
        modules = (crivo, crivo.hash, crivo.interchange, crivo.distributed)
        assert sum(name in module.__all__ for module in modules) == 1, name
    for name in crivo.__all__:
        item = getattr(crivo, name)
        assert item.__module__ in ("crivo", "crivo.errors") or item in FUNCTIONS
