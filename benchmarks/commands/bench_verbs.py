"""`crivo top`, `uniq`, `set keep`, `sample`, `filter` and `--by` beside what people type, and the join that a filter saves.

    cargo xtask bench verbs [--write FOLDER] [--small]

Peers: DuckDB, GNU sort, uniq, awk, grep and shuf; runiq (its `compact` filter is the Bloom filter) and huniq,
installed with `cargo install` beside the data.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb
from measure import Contender, Page, argument_parser

PYTHON = sys.executable

# The numbers of groups of the files of rows.
GROUPED = {"groups-10.csv": 10, "groups-100k.csv": 100_000, "groups-1m.csv": 1_000_000, "groups-10m.csv": 10_000_000}


def make(folder: Path, scale: float) -> dict[str, Path]:
    """The files, made once: lines of two kinds, and a log with the users that are wanted."""
    folder.mkdir(parents=True, exist_ok=True)
    lines, log = int(95_000_000 * scale), int(10_000_000 * scale)
    # As words or addresses come: the n-th most frequent n^-1.1 as often, the tail cut at ten million.
    chance = "hash(i)::DOUBLE / 18446744073709551616.0"
    zipf = f"(greatest({chance}, 1e-9) ^ -10 - 1)"
    word = f"CASE WHEN {zipf} < 1e7 THEN {zipf}::BIGINT ELSE (hash(i * 11) % 10000000)::BIGINT END"
    # The hardest that still has heavy hitters: half of the lines are of 30 million keys that hardly come twice.
    key = "CASE WHEN hash(i) % 2 = 0 THEN hash(i * 7) % 5000 ELSE hash(i * 3) % 30000000 END"
    plain = "(FORMAT csv, HEADER false)"
    jobs = {
        "zipf.txt": (f"SELECT lpad(({word})::VARCHAR, 10, '0') FROM range({lines}) t(i)", plain),
        "skewed.txt": (f"SELECT lpad(({key})::VARCHAR, 10, '0') FROM range({lines}) t(i)", plain),
        "skewed-tenth.txt": (f"SELECT lpad(({key})::VARCHAR, 10, '0') FROM range({lines // 10}) t(i)", plain),
        "log.csv": (f"SELECT 'u' || hash(i) % 1000000 AS user, i AS time, hash(i + 1) % 10000 AS page, md5(i::VARCHAR) AS token "
                    f"FROM range({log}) t(i)", "(FORMAT csv)"),
        "wanted.csv": ("SELECT 'u' || i * 100 AS user, 'group ' || i % 7 AS team FROM range(10000) t(i)", "(FORMAT csv)"),
    }
    for name, groups in GROUPED.items():
        jobs[name] = (f"SELECT i AS time, 'user' || hash(i) % 5000000 AS user, 'g' || hash(i * 7) % {groups} AS place, "
                      f"hash(i * 3) % 100000 / 100.0 AS amount FROM range({int(31_000_000 * scale)}) t(i)", "(FORMAT csv)")
    paths = {}
    for name, (query, options) in jobs.items():
        path = folder / f"{scale:g}-{name}"
        if not path.exists():
            print(f"making {path.name}", file=sys.stderr, flush=True)
            duckdb.sql(f"COPY ({query}) TO '{path}.part' {options}")
            Path(f"{path}.part").rename(path)
        paths[name] = path
    return paths


def duck(name: str, query: str) -> Contender:
    script = f"import duckdb; duckdb.sql('SET threads = 2'); print(len(duckdb.sql({query!r}).fetchall()))"
    return Contender(name, [PYTHON, "-c", script], rounds=3)


def shell(name: str, command: str, rounds: int = 1) -> Contender:
    """A pipe as people type it; a single program replaces the shell, so that its memory is seen."""
    alone = "|" not in command
    return Contender(name, ["sh", "-c", f"export LC_ALL=C; {'exec ' if alone else ''}{command} > /dev/null"], rounds=rounds, alone=alone)


def quiet(name: str, command: list[str | Path], rounds: int = 5) -> Contender:
    """A command of one process, its output thrown away by a shell that it replaces."""
    text = " ".join(f"'{part}'" for part in command)
    return Contender(name, ["sh", "-c", f"exec {text} > /dev/null"], rounds=rounds)


def cargo_tool(data: Path, name: str) -> Path:
    """A peer that is a Rust program, installed beside the data once."""
    program = data / "bin" / name
    if not program.exists():
        subprocess.run(["cargo", "install", "--quiet", "--root", data, name], check=True)
    return program


def by_groups(page: Page, program: Path, rows: Path, groups: int, memory: str) -> None:
    """Different users of each group, beside DuckDB: time and memory, then how far both are off."""
    approximate = f"SELECT place, approx_count_distinct(user) FROM '{rows}' GROUP BY 1"
    crivo = [str(program), "distinct", str(rows), "-f", "user", "--by", "place", "--memory", memory, "--threads", "2", "--json"]
    size = f"{rows.stat().st_size / 1e6:,.0f} MB of CSV"
    page.compare(f"Different users of each of {groups:,} groups in {size}", [
        quiet(f"crivo distinct --by, --memory {memory}", crivo, rounds=3),
        duck("DuckDB approx_count_distinct … GROUP BY", approximate),
    ])
    exact = dict(duckdb.sql(f"SELECT place, count(DISTINCT user) FROM '{rows}' GROUP BY 1").fetchall())
    answer = json.loads(subprocess.run(crivo, check=True, capture_output=True).stdout)
    found = {group["group"][0]: group["distinct"]["value"] for group in answer["groups"]}
    others = dict(duckdb.sql(approximate).fetchall())
    table = ["| who | root mean square error | largest error |", "|---|---:|---:|"]
    for name, counts in [("crivo", found), ("DuckDB", others)]:
        errors = [counts[group] / truth - 1 for group, truth in exact.items()]
        square = (sum(error * error for error in errors) / len(errors)) ** 0.5
        table.append(f"| {name} | {square:.3%} | {max(map(abs, errors)):.3%} |")
    page.add(f"How far off the answers of {groups:,} groups are", table)


def as_groups_grow(page: Page, program: Path, files: dict[str, Path]) -> None:
    """Time a row and peak memory of each command with `--by`, from a hundred thousand groups to ten million."""
    table = ["| who | groups | s | ns a row | peak MB |", "|---|---:|---:|---:|---:|"]
    for verb in [["distinct", "-f", "user"], ["count", "--sum", "amount"], ["top", "-f", "user", "-k", "1", "--counters", "16"]]:
        for name in ["groups-100k.csv", "groups-1m.csv", "groups-10m.csv"]:
            rows = files[name]
            run = quiet(verb[0], [program, *verb, "--by", "place", "--memory", "512M", "--threads", "2", "--output", "tsv", rows])
            run.run_once()
            per_row = run.seconds / (31_000_000 * rows.stat().st_size / files["groups-10m.csv"].stat().st_size) * 1e9
            table.append(f"| crivo {verb[0]} --by, --memory 512M | {GROUPED[name]:,} | {run.seconds:.1f} | {per_row:.0f} | {run.megabytes:.0f} |")
    page.add("As groups grow", table)


def filtering(page: Page, program: Path, rows: Path) -> None:
    """Rows that satisfy a condition into a file: a number compared, and a pattern."""
    size = f"{rows.stat().st_size / 1e6:,.0f} MB of CSV"
    with tempfile.TemporaryDirectory(dir=rows.parent) as scratch:
        for job, condition, where in [
            ("a tenth of the rows", "amount >= 900", "amount >= 900"),
            ("a tenth of the rows, by a pattern", "place ~ ^g7$", "regexp_matches(place, '^g7$')"),
        ]:
            ours = [program, "filter", condition, rows, "-o", f"{scratch}/crivo.csv", "--threads", "2", "--quiet"]
            page.compare(f"crivo filter: {job} of {size} into a file", [
                quiet(f"crivo filter '{condition}'", ours, rounds=3),
                duck("DuckDB COPY … WHERE", f"COPY (SELECT * FROM '{rows}' WHERE {where}) TO '{scratch}/duck.csv'"),
            ])


def main() -> None:
    options = argument_parser("a fiftieth").parse_args()
    files = make(options.data, 0.02 if options.small else 1.0)
    program = options.crivo
    page = Page(
        "verbs",
        "One verb a question: whole commands beside what people type",
        "Wall time of whole commands on two threads, start-up included. DuckDB runs in a Python process; its start-up (about "
        "0.1 s) is in its figure. Pipes of several programs run once or a few times, because they take minutes.",
    )
    lines, log, wanted = files["skewed.txt"], files["log.csv"], files["wanted.csv"]
    size = f"{lines.stat().st_size / 1e6:,.0f} MB of lines"
    columns = "columns = {'v': 'VARCHAR'}, header = false, delim = '|', auto_detect = false"
    two = ["--threads", "2"]

    for kind, path in [("as words come", files["zipf.txt"]), ("half of them of 30 million keys", lines)]:
        page.compare(f"The ten most frequent of {size}, {kind}", [
            Contender("crivo top -k 10", [str(program), "top", "-k", "10", "--json", *two, str(path)], rounds=5),
            duck("DuckDB GROUP BY … LIMIT 10",
                 f"SELECT v, count(*) AS n FROM read_csv('{path}', {columns}) GROUP BY v ORDER BY n DESC LIMIT 10"),
            shell("sort | uniq -c | sort -rn | head", f"sort --parallel=2 -S 4G '{path}' | uniq -c | sort -rn | head"),
        ])

    contenders = [
        quiet("crivo uniq", [program, "uniq", "--items", "50000000", *two, lines], rounds=3),
        shell("awk '!x[$0]++'", f"awk '!x[$0]++' '{lines}'"),
    ]
    for peer, arguments in [("runiq -f compact", f"-f compact '{lines}'"), ("runiq -f quick", f"-f quick '{lines}'"), ("huniq", f"< '{lines}'")]:
        contenders.append(shell(peer, f"'{cargo_tool(options.data, peer.split()[0])}' {arguments}"))
    page.compare(f"First occurrences of {size}", contenders)

    page.compare(f"A thousand of {size} at random", [
        quiet("crivo sample -n 1000", [program, "sample", "-n", "1000", *two, lines]),
        quiet("shuf -n 1000", ["shuf", "-n", "1000", lines]),
    ])

    with tempfile.TemporaryDirectory() as scratch:
        sketch, kept, names = f"{scratch}/wanted.crivo", f"{scratch}/kept.csv", f"{scratch}/names.txt"
        build = f"'{program}' set build -f user '{wanted}' --fpr 0.01 -o '{sketch}' --quiet"
        keep = f"'{program}' set keep '{sketch}' -f user --threads 2 '{log}'"
        Contender("", ["sh", "-c", build]).run_once()
        Contender("", ["sh", "-c", f"tail -n +2 '{wanted}' | cut -d, -f1 > '{names}'"]).run_once()
        rows = f"{log.stat().st_size / 1e6:,.0f} MB of log"
        join = "SELECT w.team, count(*) FROM '{}' l JOIN '" + str(wanted) + "' w ON l.user = w.user GROUP BY 1"
        joining = Path(f"{scratch}/join.py")
        joining.write_text("import duckdb, sys; duckdb.sql('SET threads = 2'); print(duckdb.sql(sys.argv[1]).fetchall())")
        page.compare(f"Rows of 1 % of the users in {rows}", [
            shell("crivo set keep", keep, rounds=5),
            duck("DuckDB semi join", f"COPY (SELECT * FROM '{log}' WHERE user IN (SELECT user FROM '{wanted}')) TO '/dev/null'"),
            shell("awk", f"awk -F, 'NR==FNR {{ want[$1]; next }} $1 in want' '{wanted}' '{log}'", rounds=2),
            shell("grep -F -f", f"grep -F -f '{names}' '{log}' | cat"),
        ])
        page.compare("The whole join: filter, then join exactly", [
            Contender("crivo set build, set keep, DuckDB join of what is left",
                      ["sh", "-c", f"{build}; {keep} > '{kept}'; '{PYTHON}' '{joining}' \"{join.format(kept)}\""], rounds=3, alone=False),
            Contender("DuckDB join of everything", [PYTHON, str(joining), join.format(log)], rounds=3),
            Contender("awk filter, DuckDB join of what is left",
                      ["sh", "-c", f"awk -F, 'NR==FNR {{ want[$1]; next }} $1 in want' '{wanted}' '{log}' > '{kept}'; "
                                   f"'{PYTHON}' '{joining}' \"{join.format(kept)}\""], rounds=2, alone=False),
            Contender("grep filter, DuckDB join of what is left",
                      ["sh", "-c", f"export LC_ALL=C; (head -n 1 '{log}'; grep -F -f '{names}' '{log}') > '{kept}'; "
                                   f"'{PYTHON}' '{joining}' \"{join.format(kept)}\""], rounds=2, alone=False),
        ])

        for name, memory in [("groups-10.csv", "1G"), ("groups-1m.csv", "512M")]:
            by_groups(page, program, files[name], GROUPED[name], memory)
        as_groups_grow(page, program, files)
        filtering(page, program, files["groups-10.csv"])

        table = []
        filtering = ["set", "keep", sketch]
        for verb in [["top", "-k", "10"], ["uniq", "--items", "50000000"], filtering, ["sample", "-n", "1000"], ["distinct"], ["count"]]:
            peaks = []
            for name in ["skewed-tenth.txt", "skewed.txt"]:
                run = quiet(verb[0], [program, *verb, *two, files[name]])
                run.run_once()
                peaks.append(run.megabytes)
            name = "set keep" if verb is filtering else verb[0]
            table.append(f"| crivo {name} | {peaks[0]:.1f} | {peaks[1]:.1f} | {peaks[1] / max(peaks[0], 0.1):.2f} |")
    page.add("Peak memory as files grow", ["| who | MB at a tenth | MB | ratio |", "|---|---:|---:|---:|", *table])
    page.write(options.write)


if __name__ == "__main__":
    main()
