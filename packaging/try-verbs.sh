#!/bin/sh
# Runs every command of an installed crivo once, and compares its answers with what is known of the samples.
# `cargo xtask test` runs it wherever it has just installed crivo: in a clean Debian, and in a fresh virtual environment.
#
#   sh try-verbs.sh SAMPLES      SAMPLES is the folder `samples` of the repository; works in a new temporary folder
set -eu
samples=$(cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# expect TEXT COMMAND…: the command succeeds, and the text is somewhere in its standard output.
expect() {
    text=$1
    shift
    answer=$("$@") || { echo "failed with exit code $?: $*" >&2; exit 1; }
    case $answer in
    *"$text"*) ;;
    *)
        printf 'expected %s from %s, which printed:\n%s\n' "$text" "$*" "$answer" >&2
        exit 1
        ;;
    esac
}

orders=$samples/orders.csv
visits=$samples/visits.csv

expect 'crivo ' crivo --version
expect '4000 rows, 14 columns' crivo profile "$orders"
expect 'customer' crivo joins "$orders" "$samples/customers.csv"
expect '1840 exactly, inside the bounds' crivo distinct -f visitor "$visits" --verify
expect 'country' crivo filter 'country = PT' "$orders" -q
expect 'PT' crivo top -f country "$orders"
expect '4000 counted' crivo freq -f country "$orders" --error 0.001 --confidence 0.99 -o countries.crivo
expect 'PT' crivo ask countries.crivo PT
expect 'different in customers.crivo' crivo set build -f customer "$samples/customers.csv" -o customers.crivo
expect '' crivo set has customers.crivo C0001
printf 'a\nb\na\n' > letters
expect 'a
b' crivo uniq letters -q
expect 'order' crivo sample -n 3 "$orders"
expect '"value":4000.0' crivo count "$orders" --json
expect '"rows":4000' crivo quantile -f quantity "$orders" --json
expect 'bytes' crivo plan bloom --items 1000000 --fpr 0.01 --json
crivo private encode letters --epsilon 4 --rows 64 --width 64 -o reports -q
expect '3 reports' crivo private aggregate reports -o private.crivo
expect '5000 rows' crivo distinct -f visitor "$visits" -o visitors.crivo -q
expect 'HyperLogLog' crivo show visitors.crivo
expect 'both.crivo' crivo merge visitors.crivo visitors.crivo -o both.crivo
expect '"kept":4' crivo dedup "$samples/notices.jsonl" --threshold 0.7 -q --json -o clean.jsonl
expect '"documents":6' crivo passages "$samples/notices.jsonl" -q --json
expect '"documents":6' crivo overlap "$samples/notices.jsonl" --with "$samples/notices.jsonl" -q --json
expect 'ana	eva	1' crivo similar pairs "$samples/likes.csv" --sets person,film --threshold 1 -q
mkdir spam ham
for i in 1 2 3 4 5 6; do
    printf 'From: win%s@example.net\nSubject: You won %s\n\nClaim your prize money now, number %s.\n' $i $i $i > spam/$i.eml
    printf 'From: ana%s@example.org\nSubject: Minutes %s\n\nThe notes of our meeting on Monday, part %s.\n' $i $i $i > ham/$i.eml
done
crivo mail train --store mail --spam spam --ham ham -q > trained
expect '"ham"' crivo mail stats --store mail --json
# 0, 1 and 2 are answers, 3 is an error.
code=0
crivo mail check --store mail < spam/1.eml > verdict || code=$?
[ $code -le 2 ] || { echo "crivo mail check: exit code $code" >&2; exit 1; }
expect 'bloom' crivo lab list
expect 'crivo' crivo completions bash
crivo man pages -q
[ -s pages/crivo-distinct.1 ]
# Formats of other systems: Parquet written and read again, and a count for Spark.
crivo filter 'country = PT' "$orders" -o portugal.parquet -q
expect '"distinct":{"value":1.0' crivo distinct -f country portugal.parquet --json
expect '5000 rows' crivo distinct -f visitor "$visits" --interchange hll -o visitors.bin -q
expect 'DataSketches HLL' crivo show visitors.bin
echo "every command of $(crivo --version) works"
