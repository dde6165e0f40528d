//! Valid files that no command writes: quantiles of DataSketches, and the work folder of an
//! interrupted search.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use crivo_interchange::{Hll, Kll, Req, Theta};
use crivo_near::{Documents, Error, Outcome, Settings, TakeText, Texts, WorkFolder, near_duplicates};

pub(crate) fn write(folder: &Path) {
    for (name, bytes) in interchange() {
        fs::write(folder.join(format!("{name}.datasketches")), bytes).unwrap();
    }
    fs::write(folder.join("mime.eml"), MESSAGE).unwrap();
    for (name, readings) in [("work", u32::MAX), ("work_read_once", 1)] {
        let folder = folder.join(name);
        let _ = fs::remove_dir_all(&folder);
        let _ = search(&folder, readings);
    }
}

/// A message of several parts, encodings and character sets.
const MESSAGE: &str = "From: =?utf-8?B?QW5h?= <ana@example.org>\n\
Received: from a (b [192.0.2.1]) by c; Tue, 17 Nov 2026 10:00:00 +0000\n\
Subject: =?iso-8859-1?Q?caf=E9?=\nContent-Type: multipart/mixed; boundary=\"x\"\n\n\
--x\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n\
ol=C3=A1, see http://example.org/=\nhere\n\
--x\nContent-Type: text/html; charset=windows-1252\nContent-Transfer-Encoding: base64\n\n\
PGh0bWw+PGJvZHk+PHAgc3R5bGU9ImRpc3BsYXk6bm9uZSI+aGlkZGVuPC9wPjxhIGhyZWY9Imh0\n\
dHA6Ly9leGFtcGxlLm9yZyI+Y2xpY2s8L2E+PC9ib2R5PjwvaHRtbD4=\n\
--x\nContent-Type: message/rfc822\n\nFrom: b@example.org\nSubject: inner\n\ntext\n\
--x\nContent-Disposition: attachment; filename*=utf-8''a%20b.exe\n\nMZ\n--x--\n";

fn interchange() -> Vec<(&'static str, Vec<u8>)> {
    let hll = |count: u64| {
        let mut sketch = Hll::new(8).unwrap();
        (0..count).for_each(|key| sketch.insert_integer(key));
        sketch.encode()
    };
    let theta = |count: u64| {
        let mut sketch = Theta::new(5).unwrap();
        (0..count).for_each(|key| sketch.insert_integer(key));
        sketch.encode()
    };
    let kll = |count: u32| {
        let mut sketch = Kll::<f64>::new(20).unwrap();
        (0..count).for_each(|number| sketch.insert(f64::from(number)));
        sketch.encode()
    };
    let req = |count: u16, of_high_ranks: bool| {
        let mut sketch = Req::new(12, of_high_ranks).unwrap();
        (0..count).for_each(|number| sketch.insert(f32::from(number)));
        sketch.encode()
    };
    vec![
        ("hll_list", hll(5)),
        ("hll_set", hll(20)),
        ("hll_array", hll(2000)),
        ("theta_exact", theta(20)),
        ("theta_sampled", theta(2000)),
        ("kll_one", kll(1)),
        ("kll", kll(500)),
        ("req_few", req(8, true)),
        ("req_high", req(500, true)),
        ("req_low", req(500, false)),
    ]
}

/// Continues the search whose stages are in a folder.
pub(crate) fn search_in(folder: &Path) -> Result<Outcome, Error> {
    search(folder, u32::MAX)
}

fn search(folder: &Path, readings: u32) -> Result<Outcome, Error> {
    let texts: Vec<String> = (0..60)
        .map(|number| {
            let words = (0..12).map(|word| format!("word{}", word * (number % 7 + 1)));
            words.chain([format!("end{}", number % 11)]).collect::<Vec<_>>().join(" ")
        })
        .collect();
    let documents = ReadSomeTimes { texts: Texts::new(&texts, 1), left: AtomicU32::new(readings) };
    let work = Some(WorkFolder { path: folder.to_path_buf(), identity: "of an attack".into() });
    let settings = Settings { threshold: 0.5, threads: 1, memory: 16 << 20, work, ..Settings::default() };
    near_duplicates(&documents, &settings, &())
}

/// Documents that can be read a limited number of times, so that a search is interrupted.
struct ReadSomeTimes<'a> {
    texts: Texts<'a, String>,
    left: AtomicU32,
}

impl Documents for ReadSomeTimes<'_> {
    fn read<S: Send>(
        &self,
        make: &(dyn Fn() -> S + Sync),
        take: &TakeText<'_, S>,
    ) -> crivo_near::Result<Vec<S>> {
        if self.left.fetch_sub(1, Ordering::Relaxed) == 0 {
            return Err(Error::Stopped);
        }
        self.texts.read(make, take)
    }
}
