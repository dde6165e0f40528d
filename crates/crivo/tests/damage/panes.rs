//! Each rule of the payload of Panes.

use crivo::ErrorKind::{Damaged, Foreign, InvalidContents};
use crivo::codec::AnySketch;
use crivo::distinct::HyperLogLog;
use crivo::window::Panes;

use super::support::forge::{self, seal};
use super::{broken, set};

/// Where the empty sketch's envelope begins; it is that of an empty HyperLogLog, of 38 bytes.
const EMPTY: usize = 28 + 29;
const USED: usize = EMPTY + 38;
const FIRST: usize = USED + 4;

/// The number of the first pane is a new one.
fn number(value: i64) -> impl Fn(&mut Vec<u8>) {
    move |bytes| bytes[FIRST..FIRST + 8].copy_from_slice(&value.to_le_bytes())
}

/// Changes a byte of an envelope inside, and makes its checksum right again.
fn inside(start: usize, length: usize, at: usize, value: u8) -> impl Fn(&mut Vec<u8>) {
    move |bytes| {
        bytes[start + at] = value;
        seal(&mut bytes[start..start + length]);
    }
}

#[test]
fn each_broken_rule_of_panes_is_named() {
    let [empty, visitors, ..] = &forge::panes()[..] else { panic!("other samples") };
    let broken =
        |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<Panes<HyperLogLog>>(original, change);

    assert_eq!(broken(visitors, &|bytes| bytes[28..36].fill(0)), (InvalidContents, "pane width"));
    assert_eq!(broken(visitors, &set(35, 0x80)), (InvalidContents, "pane width"));
    assert_eq!(broken(visitors, &|bytes| bytes[36..40].fill(0)), (InvalidContents, "panes"));
    assert_eq!(broken(visitors, &set(39, 1)), (InvalidContents, "panes"));
    // A ring that heard of no time has none to forget, and nothing was late.
    assert_eq!(broken(empty, &set(40, 1)), (InvalidContents, "started"));
    assert_eq!(broken(empty, &set(49, 1)), (InvalidContents, "started"));
    assert_eq!(broken(visitors, &set(48, 2)), (InvalidContents, "started"));
    assert_eq!(broken(visitors, &set(48, 0)), (InvalidContents, "started"));
    // No time is in the pane after the last one.
    assert_eq!(broken(visitors, &set(56, 0x7F)), (InvalidContents, "latest pane"));
    assert_eq!(broken(empty, &set(USED, 1)), (InvalidContents, "used panes"));
    assert_eq!(broken(visitors, &set(USED, 5)), (InvalidContents, "used panes"));
    assert_eq!(broken(visitors, &set(USED, 4)), (InvalidContents, "number of a pane"));
    assert_eq!(broken(visitors, &set(USED, 2)), (InvalidContents, "payload"));
    for wrong in [-3, 2, i64::MIN, i64::MAX] {
        assert_eq!(broken(visitors, &number(wrong)), (InvalidContents, "number of a pane"), "{wrong}");
    }
    assert_eq!(broken(visitors, &number(0)), (InvalidContents, "number of a pane"), "the second one's");
}

#[test]
fn each_broken_envelope_in_panes_is_named() {
    let [empty, visitors, ..] = &forge::panes()[..] else { panic!("other samples") };
    let broken =
        |original: &[u8], change: &dyn Fn(&mut Vec<u8>)| broken::<Panes<AnySketch>>(original, change);

    assert_eq!(broken(empty, &set(EMPTY, b'X')), (Foreign, "magic"));
    assert_eq!(broken(empty, &set(EMPTY + 30, 1)), (Damaged, "checksum"));
    assert_eq!(broken(empty, &set(EMPTY + 20, 100)), (InvalidContents, "empty sketch"), "a length");
    assert_eq!(
        broken(empty, &|bytes| bytes[EMPTY + 20..EMPTY + 28].fill(0xFF)),
        (InvalidContents, "empty sketch")
    );
    assert_eq!(broken(empty, &inside(EMPTY, 38, 28, 3)), (InvalidContents, "precision"));
    assert_eq!(broken(empty, &inside(EMPTY, 38, 12, 6)), (InvalidContents, "empty sketch"), "a seed");
    let ring_in = |at, length| {
        move |bytes: &mut Vec<u8>| {
            inside(at, length, 5, 0x70)(bytes);
            inside(at, length, 6, 1)(bytes);
        }
    };
    assert_eq!(broken(empty, &ring_in(EMPTY, 38)), (InvalidContents, "empty sketch"), "a ring");
    // The first pane is dense: 16 registers after its two bytes.
    let pane = FIRST + 8;
    let length = 32 + 18;
    assert_eq!(broken(visitors, &inside(pane, length, 5, 0x26)), (InvalidContents, "pane"), "a family");
    assert_eq!(broken(visitors, &inside(pane, length, 12, 6)), (InvalidContents, "pane"), "a seed");
    // Another precision: the registers no longer fit it, or the sketch is whole and of another
    // size.
    assert_eq!(broken(visitors, &inside(pane, length, 28, 5)), (InvalidContents, "registers"));
    let mut other = HyperLogLog::new(5).unwrap();
    other.insert("ana").unwrap();
    let replaced = |bytes: &mut Vec<u8>| _ = bytes.splice(pane..pane + length, other.encode());
    assert_eq!(broken(visitors, &replaced), (InvalidContents, "pane"), "a precision");
    assert_eq!(broken(visitors, &inside(pane, length, 29, 7)), (InvalidContents, "state"));
    assert_eq!(broken(visitors, &ring_in(pane, length)), (InvalidContents, "pane"), "a ring");
    assert_eq!(broken(visitors, &set(pane + 40, 77)), (Damaged, "checksum"));
}

#[test]
fn an_empty_sketch_that_is_not_empty_is_refused() {
    let mut filled = HyperLogLog::new(4).unwrap();
    filled.insert("ana").unwrap();
    let ring = Panes::new(HyperLogLog::new(4).unwrap(), 1, 1).unwrap();
    let mut bytes = ring.encode();
    bytes.splice(EMPTY..EMPTY + 38, filled.encode());
    seal(&mut bytes);
    let error = AnySketch::decode(&bytes).unwrap_err();
    assert_eq!((error.kind(), error.field()), (InvalidContents, "sketch of a pane"));
}
