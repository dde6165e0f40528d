//! Every pass over the same input divides it into the same chunks, so ids name the same records.

use crivo_rows::{Input, RowId, Scan, Select};

use crate::compressed::gzip;
use crate::support::{Folder, Random};

/// The id, the length and the hash of each record, in input order.
type Records = Vec<(RowId, usize, u64)>;

fn records(input: &Input, threads: usize) -> Records {
    let scan = Scan::of(input).select(Select::Row).threads(threads);
    let folded = scan.fold(
        Records::new,
        |records, batch| {
            let hashes = batch.keys(0)?.hashes().to_vec();
            let ids = (0..batch.rows()).map(|row| batch.id(row));
            let lengths = batch.column(0).iter().map(|record| record.map_or(0, <[u8]>::len));
            records.extend(ids.zip(lengths).zip(hashes).map(|((id, length), hash)| (id, length, hash)));
            Ok(())
        },
        |records, others| {
            records.extend(others);
            Ok(())
        },
    );
    let mut records = folded.unwrap().state;
    records.sort_unstable();
    records
}

/// Returns lines of 1 byte to 600 KB. Most are short, so that many chunks follow a long one.
fn lines(random: &mut Random, bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < bytes {
        let longest = random.pick(&[20, 2_000, 60_000, 600_000]);
        let length = 1 + random.below(longest);
        let times = 600_000 / longest;
        for _ in 0..times {
            text.extend(std::iter::repeat_n(b'a' + random.below(26) as u8, length));
            text.push(b'\n');
        }
    }
    text
}

#[test]
fn every_pass_gives_a_record_the_same_id_whatever_the_threads() {
    let folder = Folder::new();
    let mut random = Random::new(23);
    for round in 0..3 {
        // The long records of the first file must not change the chunks of a second file.
        let [one, other] = [6 << 20, 3 << 20].map(|bytes| lines(&mut random, bytes));
        let names = [format!("{round}.txt"), format!("{round}.csv"), format!("{round}.txt.gz")];
        let paths = [
            folder.write(&names[0], &one),
            folder.write(&names[1], &one),
            folder.write(&names[2], gzip(&other)),
        ];
        let input = Input::from_args(&paths).unwrap();
        let expected = records(&input, 1);
        for threads in [1, 2, 3, 4] {
            for pass in 0..4 {
                let found = records(&input, threads);
                assert!(found == expected, "round {round}, pass {pass} on {threads} threads");
            }
        }
    }
}
