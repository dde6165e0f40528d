"""What docs/spark.md shows is what happens."""

import doctest
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import crivo.spark

ROOT = Path(__file__).parents[3]


def test_the_examples_of_the_page_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results = doctest.testfile(
        str(ROOT / "docs" / "spark.md"), module_relative=False, encoding="utf-8", globs={"spark": spark}
    )
    assert results.failed == 0 and results.attempted >= 15


def test_the_examples_on_spark_of_the_page_about_engines_run(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    page = ROOT / "docs" / "engines.md"
    section = page.read_text(encoding="utf-8").partition("## Spark\n")[2].partition("\n## ")[0]
    test = doctest.DocTestParser().get_doctest(section, {"spark": spark}, page.name, str(page), 0)
    runner = doctest.DocTestRunner()
    runner.run(test)
    assert runner.failures == 0 and len(test.examples) >= 6


def test_every_function_says_what_it_does() -> None:
    for name in crivo.spark.__all__:
        documentation = getattr(crivo.spark, name).__doc__
        assert documentation and len(documentation) > 80, name
        assert name in (crivo.spark.__doc__ or "") or name == "Sketched"


def test_a_version_that_was_not_tested_is_named() -> None:
    code = "import pyspark; pyspark.__version__ = '99.1.0'; import crivo.spark"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "crivo was tested with pyspark 4.3, found 99.1.0" in result.stderr
