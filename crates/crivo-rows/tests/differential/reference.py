"""What Python's own modules read from the inputs of a Rust test.

Standard input has the cases one after the other: the length in decimal, a newline, and that number of bytes.
Standard output has for each case one line of JSON: the rows, or null if Python refuses the input.
"""

import csv
import io
import json
import sys

MISSING = None


def csv_rows(text: str) -> dict[str, object]:
    """The records of a CSV text with the fields of its header, and how many others there are."""
    rows = [row for row in csv.reader(io.StringIO(text, newline="")) if row]
    # An unclosed quote swallows whatever comes after.
    probe = list(csv.reader(io.StringIO(text + "\n@\n", newline="")))
    is_closed = bool(probe) and probe[-1] == ["@"]
    if not is_closed and rows:
        rows.pop()
    header, *records = rows or [[]]
    good = [[value or MISSING for value in row] for row in records if len(row) == len(header)]
    bad = sum(len(row) != len(header) for row in records) + (not is_closed)
    return {"header": header, "rows": good, "bad": bad}


def text_of(value: object) -> object:
    """The text that docs/keys.md gives a value of JSON; a list or object as itself."""
    if value is None or value == "":
        return MISSING
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, str):
        return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in value)
    return {"nested": value}


def refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def json_rows(text: str) -> dict[str, object]:
    """The field `a` of each line that is an object, and how many lines are not."""
    good, bad = [], 0
    for line in text.split("\n"):
        if not line.strip(" \t\r"):
            continue
        try:
            record = json.loads(line, parse_constant=refuse)
            if not isinstance(record, dict):
                raise ValueError("no object")
        except ValueError:
            bad += 1
        else:
            good.append(text_of(record.get("a")))
    return {"rows": good, "bad": bad}


def main() -> None:
    read = {"csv": csv_rows, "jsonl": json_rows}[sys.argv[1]]
    cases = sys.stdin.buffer
    out = io.StringIO()
    while line := cases.readline():
        text = cases.read(int(line)).decode("utf-8")
        out.write(json.dumps(read(text)) + "\n")
    sys.stdout.write(out.getvalue())


csv.field_size_limit(1 << 30)
sys.set_int_max_str_digits(0) if hasattr(sys, "set_int_max_str_digits") else None
main()
