//! Other processes use the store too: they write to it, replace it, or fail while they create one.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use crivo_mail::{Error, Filter, Label, Learned, Method};

use crate::support::{Writer, seen, trained};

/// An export whose bytes never arrive. An import of it holds the store until `let_go` is signalled.
struct Holding {
    begun: Sender<()>,
    let_go: Receiver<()>,
}

impl Read for Holding {
    fn read(&mut self, _into: &mut [u8]) -> io::Result<usize> {
        self.begun.send(()).map_err(io::Error::other)?;
        self.let_go.recv().map_err(io::Error::other)?;
        Ok(0)
    }
}

#[test]
fn nobody_waits_to_be_judged_while_another_waits_to_learn() {
    let mut writer = Writer::new("waiting");
    let (folder, filter) = trained(&writer.mail(40));
    let (filter, lesson, probe) = (Arc::new(filter), writer.message(true), writer.message(false));
    let ((begun, has_begun), (let_go, held)) = (channel(), channel());
    let store = folder.path().to_path_buf();
    let holder = thread::spawn(move || {
        let mut export = Holding { begun, let_go: held };
        Filter::open(&store).unwrap().import(&mut export, Path::new("export")).is_err()
    });
    has_begun.recv().unwrap();
    let learner = Arc::clone(&filter);
    let learning = thread::spawn(move || learner.learn(&lesson, &Label::Spam).unwrap());
    thread::sleep(Duration::from_millis(100));
    filter.check(&probe).unwrap();
    filter.refresh().unwrap();
    assert!(!learning.is_finished(), "the store is held, and what was asked has been answered");
    let_go.send(()).unwrap();
    assert!(holder.join().unwrap(), "the export was none");
    assert_eq!(learning.join().unwrap(), Learned::New);
    assert_eq!(filter.stats().unwrap().messages, 41);
}

#[test]
fn another_store_in_the_place_of_the_open_one_is_noticed() {
    let mut writer = Writer::new("replaced");
    let ((folder, filter), (other, other_filter)) = (trained(&writer.mail(40)), trained(&writer.mail(60)));
    let probes: Vec<Vec<u8>> = (0..4).map(|i| writer.message(i % 2 == 0)).collect();
    drop(other_filter);
    std::fs::remove_dir_all(folder.path()).unwrap();
    let gone = filter.learn(&probes[0], &Label::Spam).unwrap_err();
    assert!(gone.is_missing_store(), "{gone}");
    assert!(filter.refresh().is_err());
    filter.check(&probes[0]).unwrap();

    std::fs::create_dir(folder.path()).unwrap();
    for file in other.path().read_dir().unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
    }
    filter.refresh().unwrap();
    assert_eq!(seen(&filter, &probes), seen(&Filter::open(other.path()).unwrap(), &probes));
    assert_eq!(filter.learn(&probes[0], &Label::Spam).unwrap(), Learned::New);
    assert_eq!(Filter::open(folder.path()).unwrap().stats().unwrap().messages, 61);
}

#[test]
fn a_store_is_made_whole_or_not_at_all() {
    let mut writer = Writer::new("whole");
    let (mail, probes) = (writer.mail(60), vec![writer.message(true), writer.message(false)]);
    let folder = tempfile::tempdir().unwrap();
    let failed = Filter::create::<()>(folder.path(), Method::Default, |new| {
        new.train(mail.iter().cloned().map(Ok))?;
        Err(Error::Unsuitable("no more mail".into()))
    });
    assert!(failed.is_err());
    assert_eq!(folder.path().read_dir().unwrap().count(), 0, "nothing is left of it");

    let made = Filter::create(folder.path(), Method::Default, |new| {
        new.train(mail.iter().cloned().map(Ok))?;
        // The messages learned so far can be used at once.
        Ok(seen(new, &probes))
    });
    let filter = Filter::open(folder.path()).unwrap();
    filter.verify().unwrap();
    assert_eq!(made.unwrap(), seen(&filter, &probes));
    assert_eq!(
        seen(&filter, &probes),
        seen(&trained(&mail).1, &probes),
        "as one that was there before it learned"
    );
    let again = Filter::create(folder.path(), Method::Default, |_| Ok(()));
    assert!(again.unwrap_err().to_string().contains("already"));
}
