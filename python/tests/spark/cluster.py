"""A standalone cluster on this machine: a master and its workers, started and stopped by process id."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyspark

START_UP = 600.0
"""Seconds that a daemon may take, on a machine that has much else to do."""


class Daemon:
    """A Java process of Spark and everything it starts: a process group of its own."""

    def __init__(self, log: Path, *arguments: str) -> None:
        home = Path(pyspark.__file__).parent
        environment = dict(
            os.environ,
            SPARK_HOME=str(home),
            SPARK_LOCAL_IP="127.0.0.1",
            SPARK_DAEMON_MEMORY="256m",
            PYSPARK_PYTHON=sys.executable,
        )
        self.log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                env=environment,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_for(self, pattern: str) -> re.Match[str]:
        """The line that says it is ready."""
        deadline = time.monotonic() + START_UP
        while time.monotonic() < deadline:
            text = self.log.read_text(errors="replace")
            if found := re.search(pattern, text):
                return found
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise AssertionError(f"{pattern!r} did not come:\n{self.log.read_text(errors='replace')}")

    def kill(self) -> None:
        """As if the machine were gone: the daemon, its executors and their Python, at once."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()


class Cluster:
    """One master; workers of one core each."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workers: list[Daemon] = []
        self.master = Daemon(
            folder / "master.log",
            "org.apache.spark.deploy.master.Master",
            *("--host", "127.0.0.1", "--port", "0", "--webui-port", "0"),
        )
        self.url = self.master.wait_for(r"spark://127\.0\.0\.1:\d+").group()
        self.master.wait_for("New state: ALIVE")

    def add_worker(self) -> Daemon:
        number = len(self.workers)
        worker = Daemon(
            self.folder / f"worker-{number}.log",
            "org.apache.spark.deploy.worker.Worker",
            *("--host", "127.0.0.1", "--port", "0", "--webui-port", "0", "--cores", "1", "--memory", "1g"),
            *("--work-dir", str(self.folder / f"work-{number}"), self.url),
        )
        self.workers.append(worker)
        worker.wait_for("Successfully registered with master")
        return worker

    def stop(self) -> None:
        for daemon in [*self.workers, self.master]:
            daemon.stop()
