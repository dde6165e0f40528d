"""Which columns are meant, and can they be keys? Asked on the driver: a task that fails is tried four
times.
"""

from collections.abc import Sequence

import pyspark.sql.types
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NullType,
    ShortType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
    VarcharType,
)

from crivo.errors import InvalidParameterError, KeyTypeError

INTEGERS = (ByteType, ShortType, IntegerType, LongType)
TEXTS = (StringType, CharType, VarcharType)
# Times of day came with pyspark 4.1.
TIMES_OF_DAY: tuple[type[DataType], ...] = tuple(
    getattr(pyspark.sql.types, name) for name in ("TimeType",) if hasattr(pyspark.sql.types, name)
)
# What docs/keys.md has a text for.
KEYS = (
    *INTEGERS,
    *TEXTS,
    BinaryType,
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    NullType,
    TimestampType,
    TimestampNTZType,
    *TIMES_OF_DAY,
)


def column(name: str) -> Column:
    """The column of that name, whatever characters are in it."""
    return F.col(quoted(name))


def quoted(name: str) -> str:
    """The name as Spark's expressions take it, whatever characters are in it."""
    return "`" + name.replace("`", "``") + "`"


def numbered(df: DataFrame, names: Sequence[str]) -> DataFrame:
    """The columns under names that `mapInArrow` takes: it does not take those with a dot, or one twice."""
    return df.select(*(column(name).alias(f"c{place}") for place, name in enumerate(names)))


def all_numbered(df: DataFrame) -> DataFrame:
    """All columns under such names, in their places, even if two have the same name. `toDF` gives them back
    their own names.
    """
    return df.toDF(*(f"c{place}" for place in range(len(df.columns))))


def type_of(df: DataFrame, name: str, what: str = "column") -> DataType:
    """The type of a column that has to be there."""
    if not isinstance(df, DataFrame):
        raise KeyTypeError(f"df: expected a Spark DataFrame, found {type(df).__name__}")
    if not isinstance(name, str):
        raise KeyTypeError(f"{what}: expected the name of a column, found {type(name).__name__}")
    found = [field.dataType for field in df.schema.fields if field.name == name]
    if len(found) == 1:
        return found[0]
    there = ", ".join(f"'{other}'" for other in df.columns)
    if found:
        raise InvalidParameterError(
            f"{what}: expected a name that one column has, found '{name}' {len(found)} times"
        )
    raise InvalidParameterError(f"{what}: expected one of {there}, found '{name}'")


def require_keys(df: DataFrame, name: str, keys: str) -> DataType:
    """A column whose values are keys of the kind."""
    found = type_of(df, name)
    if keys == "int" and not isinstance(found, INTEGERS):
        advice = "cast the column, or leave out keys='int'"
        raise KeyTypeError(f"column '{name}': expected integers, found {found.simpleString()} ({advice})")
    if keys == "numbers" and not isinstance(found, (*INTEGERS, DoubleType, FloatType, NullType)):
        advice = "cast the column to double"
        raise KeyTypeError(f"column '{name}': expected numbers, found {found.simpleString()} ({advice})")
    if not isinstance(found, KEYS):
        expected, advice = "text, bytes, numbers, booleans or times", "choose a part of it, or convert it"
        raise KeyTypeError(f"column '{name}': expected {expected}, found {found.simpleString()} ({advice})")
    return found


def group_parts(df: DataFrame, name: str) -> list[tuple[Column, DataType]]:
    """The columns that a group is known by: itself, or of a struct, such as `F.window` makes, whether it is
    null and each of its fields.
    """
    found = type_of(df, name)
    if not isinstance(found, StructType):
        return [(column(name), require_keys(df, name, "text"))]
    for field in found.fields:
        if not isinstance(field.dataType, KEYS):
            expected = "a struct of text, bytes, numbers, booleans or times"
            kind = found.simpleString()
            raise KeyTypeError(f"column '{name}': expected {expected}, found {kind} (choose a part of it)")
    fields = [(column(name)[field.name], field.dataType) for field in found.fields]
    return [(column(name).isNull(), BooleanType()), *fields]


def group_column(df: DataFrame, name: str, parts: Sequence[str]) -> Column:
    """The group again, from its parts by their names."""
    found = type_of(df, name)
    if not isinstance(found, StructType):
        return F.col(parts[0]).alias(name)
    fields = [F.col(part).alias(field.name) for part, field in zip(parts[1:], found.fields, strict=True)]
    return F.when(~F.col(parts[0]), F.struct(*fields)).alias(name)


def require_unlike(names: Sequence[str], added: Sequence[str], what: str, advice: str) -> None:
    """Columns that can stand beside those that are added to them: to Spark, `Rows` is `rows`."""
    for name in names:
        if name.lower() in added:
            raise InvalidParameterError(
                f"{what}: expected no column like those that are added "
                f"({', '.join(added)}), found '{name}' ({advice})"
            )


def names_of(names: str | Sequence[str] | None, what: str) -> list[str]:
    """One name, several, or none."""
    if names is None:
        return []
    listed = [names] if isinstance(names, str) else list(names)
    if len(set(listed)) != len(listed):
        raise InvalidParameterError(f"{what}: expected different columns, found {listed}")
    return listed
