"""Sessions: one inside of this process for most tests, and a cluster for those that need one."""

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from cluster import Cluster
from pyspark.sql import SparkSession

# Workers are started with the interpreter of the tests.
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
# Each job takes a moment: Java's optimising compiler and parallel collector would cost more than they gain.
QUICK_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
os.environ["PYSPARK_SUBMIT_ARGS"] = f"--driver-java-options '{QUICK_JAVA}' pyspark-shell"

QUIET = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.executor.extraJavaOptions": QUICK_JAVA,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "3",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timeType.enabled": "true",
    "spark.python.worker.reuse": "true",
}


def session(master: str, **settings: str) -> SparkSession:
    builder = SparkSession.builder.master(master).appName("crivo tests")
    for name, value in {**QUIET, **settings}.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    started = session("local[2]")
    yield started
    started.stop()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster"))
    try:
        for _ in range(2):
            started.add_worker()
        yield started
    finally:
        started.stop()


@pytest.fixture(scope="module")
def on_cluster(cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on the cluster, whose executors get crivo from an archive."""
    from crivo.spark import pack_environment

    archive: Path = tmp_path_factory.mktemp("archive") / "env.tar.gz"
    settings = pack_environment(archive)
    started = session(
        cluster.url, **settings, **{"spark.executor.memory": "600m", "spark.executor.cores": "1"}
    )
    yield started
    started.stop()


Make = Callable[..., list[str]]


@pytest.fixture(scope="session")
def texts() -> list[str]:
    """Documents: some much alike, some the same, and some too short."""
    import random

    chance = random.Random(11)
    words = [f"w{number}" for number in range(400)]
    made: list[str] = []
    for number in range(60):
        original = [chance.choice(words) for _ in range(80)]
        made.append(" ".join(original))
        for copy in range(number % 4):
            changed = list(original)
            for _ in range(copy * 2):
                changed[chance.randrange(80)] = chance.choice(words)
            made.append(" ".join(changed))
    made += ["too short", "too short", "too short", "short"]
    chance.shuffle(made)
    return made
