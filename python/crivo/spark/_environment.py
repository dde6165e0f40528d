"""crivo for machines where it is not installed."""

import importlib.metadata
import os
import tarfile
import tempfile
from collections.abc import Iterable
from pathlib import Path

from crivo.errors import InvalidParameterError

FOLDER = "crivo_env"


def pack_environment(
    path: str | os.PathLike[str] = "crivo_env.tar.gz", *, packages: Iterable[str] = ("crivo",)
) -> dict[str, str]:
    """Packs crivo into an archive that Spark unpacks on every executor, and returns the settings that tell
    Spark so: give them to the builder of the session, or to `spark-submit` with `--conf`.

    The executors need a Python of the driver's platform, with pyarrow and numpy, as Spark's Arrow functions
    do anyway; what else they lack can be added to `packages`, by the names that pip knows. The archive
    appears whole or not at all.
    """
    target = Path(path).absolute()
    if not target.name.endswith((".tar.gz", ".tgz")):
        raise InvalidParameterError(
            f"path: expected a name that ends with .tar.gz or .tgz, found '{target.name}'"
        )
    files = {file for package in packages for file in files_of(package)}
    with tempfile.NamedTemporaryFile(
        dir=target.parent, prefix=".crivo-", suffix=".partial", delete=False
    ) as partial:
        try:
            with tarfile.open(fileobj=partial, mode="w:gz") as archive:
                for name, file in sorted(files):
                    archive.add(file, arcname=name, recursive=False)
            partial.flush()
            os.replace(partial.name, target)
        except BaseException:
            os.unlink(partial.name)
            raise
    # A relative path is enough: Spark unpacks archives in the folder that executors run in.
    return {"spark.archives": f"{target.as_uri()}#{FOLDER}", "spark.executorEnv.PYTHONPATH": FOLDER}


def files_of(package: str) -> list[tuple[str, str]]:
    """The installed files of a package: their names inside of it, and where they are."""
    try:
        recorded = importlib.metadata.files(package)
    except importlib.metadata.PackageNotFoundError:
        recorded = None
    if recorded is None:
        raise InvalidParameterError(f"packages: expected the names of installed packages, found '{package}'")
    wanted = (file for file in recorded if ".." not in file.parts and "__pycache__" not in file.parts)
    return [(file.as_posix(), str(file.locate())) for file in wanted if Path(str(file.locate())).is_file()]
