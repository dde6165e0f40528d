"""What is in a table, of whatever library?"""

from typing import Any

from crivo import _huggingface
from crivo.errors import InvalidParameterError, KeyTypeError, _raised_inside


def require_collected(table: Any) -> None:
    """Refuses a plan for a table, as polars has them: asking it for its columns would carry it out."""
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        found = f"a {type(table).__name__}, which has none yet (.collect() it first)"
        raise KeyTypeError(f"table: expected its rows, found {found}")


def columns_of(table: Any) -> list[tuple[str, Any]]:
    """The names and the values of a table's columns."""
    require_collected(table)
    if _huggingface.is_dataset(table):
        return columns_of(_huggingface.table_of(table))
    if isinstance(table, dict):
        return [(str(name), values) for name, values in table.items()]
    if hasattr(table, "column_names") and hasattr(table, "column"):  # Arrow's table
        return list(zip(table.column_names, table.columns, strict=True))
    if hasattr(table, "schema") and hasattr(table, "columns") and hasattr(table.schema, "names"):
        names, columns = table.schema.names, table.columns
        if len(columns) and not isinstance(columns[0], str):  # Arrow's record batch
            return list(zip(names, columns, strict=True))
    if hasattr(table, "columns") and hasattr(table, "iloc"):  # pandas
        return [(str(name), table.iloc[:, place]) for place, name in enumerate(table.columns)]
    if hasattr(table, "get_columns"):  # polars
        return [(column.name, column) for column in table.get_columns()]
    if (read := from_stream(table)) is not None:
        return columns_of(read)
    found = type(table).__name__
    expected = "one of pandas, polars, Arrow, DuckDB, Spark or datasets, or a dict of columns"
    raise KeyTypeError(f"table: expected {expected}, found {found}")


def from_stream(table: Any) -> Any:
    """Arrow's own table of what only streams its rows, as the readers of Arrow and the relations of DuckDB
    do; None if it is no such thing.
    """
    if not hasattr(table, "__arrow_c_stream__"):
        return None
    try:
        import pyarrow as pa
    except ImportError as missing:
        found = f"a {type(table).__name__}, which only pyarrow can read"
        raise KeyTypeError(f"table: expected pyarrow to be installed, found {found}") from missing
    try:
        reader = pa.RecordBatchReader.from_stream(table)
    except pa.ArrowInvalid:
        return None  # a column
    try:
        return reader.read_all()
    except pa.ArrowException as broken:
        if own := _raised_inside(str(broken)):
            raise own from broken
        raise


def column_of(table: Any, name: str) -> Any:
    """The values of one column."""
    columns = columns_of(table)
    found = [values for there, values in columns if there == str(name)]
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"'{there}'" for there, _ in columns) or "none"
    times = "" if not found else f" {len(found)} times"
    raise InvalidParameterError(f"column: expected one of the table's ({names}), found '{name}'{times}")
