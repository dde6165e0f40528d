"""The documentation holds: examples run, stubs say what the module says."""

import ast
import doctest
import importlib.metadata
import inspect
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from command_line import program as program

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


def test_the_readme_s_examples_run() -> None:
    readme = Path(__file__).parents[2] / "README.md"
    results = doctest.testfile(str(readme), module_relative=False, encoding="utf-8")
    assert results.failed == 0 and results.attempted >= 4


def test_the_examples_of_the_page_for_newcomers_run() -> None:
    page = Path(__file__).parents[2] / "docs" / "coming-from-datasketch.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0 and results.attempted >= 12


def test_the_examples_of_the_page_about_other_systems_run() -> None:
    page = ROOT / "docs" / "interchange.md"
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert results.failed == 0 and results.attempted >= 6


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


@pytest.mark.skipif(os.name == "nt", reason="the commands are for a shell")
def test_the_commands_of_the_page_about_engines_print_what_it_shows(tmp_path: Path, program: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "crivo").symlink_to(program.resolve())
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    shell = ENGINES.read_text(encoding="utf-8").partition("## The shell\n")[2].partition("\n## ")[0]
    (block,) = shell.split("```console\n")[1:]
    steps = block.partition("```")[0].split("$ ")[1:]
    assert len(steps) == 4
    for step in steps:
        command, _, shown = step.partition("\n")
        environment = {**os.environ, "PATH": path}
        ran = subprocess.run(
            ["sh", "-c", command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert ran.stdout == shown, command


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
    written = {function.name: ast.get_docstring(function) for function in functions}
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
