//! Checks that the registers of an HLL sketch are possible.
//!
//! The decoder of DataSketches checks lengths and headers, but trusts the registers. Forged
//! registers may then break later steps. This module checks the registers and the sums stored
//! beside them. Layout of the array modes: 40 bytes of header, then the registers as bytes, as six
//! bits (which cannot be wrong), or as four bits above a common minimum. Then 15 means that the
//! register is in the list of exceptions after them.

use std::collections::BTreeSet;

const HEADER: usize = 40;
/// The greatest register, which is a rank of six bits.
const MOST: u8 = 63;
/// The value of four bits that marks a register in the list of exceptions.
const EXCEPTION: u8 = 15;
/// The number of bits of an exception that have the number of its register.
const SLOT_BITS: u32 = 26;

/// Returns what is wrong with the registers of a sketch or with the sums beside them. Returns
/// `None` if nothing is wrong, or if the sketch has no registers. The caller must have checked the
/// header before.
pub(crate) fn wrong_registers(bytes: &[u8]) -> Option<&'static str> {
    let &[_, _, _, lg_k, _, _, least, mode, ..] = bytes else { return None };
    let registers = 1_usize << lg_k.min(21);
    let body = bytes.get(HEADER..).filter(|_| mode & 3 == 2)?;
    if let Some(cause) = wrong_sums(bytes, registers) {
        return Some(cause);
    }
    match mode >> 2 & 3 {
        0 => wrong_nibbles(body, registers, least),
        2 => body.iter().take(registers).any(|&rank| rank > MOST).then_some("a register above 63"),
        _ => None,
    }
}

/// Checks the numbers before the registers: the running estimate, and the sum of 2^−rank, which is
/// stored in two parts.
fn wrong_sums(bytes: &[u8], registers: usize) -> Option<&'static str> {
    let (_, numbers) = bytes.split_at_checked(8)?;
    let [estimate, low_ranks, high_ranks] = [0, 1, 2]
        .map(|at| numbers.as_chunks::<8>().0.get(at).map_or(f64::NAN, |eight| f64::from_le_bytes(*eight)));
    let sum = low_ranks + high_ranks;
    let are_sums =
        estimate >= 0.0 && low_ranks >= 0.0 && high_ranks >= 0.0 && sum > 0.0 && sum <= registers as f64;
    (!are_sums).then_some("sums that are no sums of registers")
}

fn wrong_nibbles(body: &[u8], registers: usize, least: u8) -> Option<&'static str> {
    let (packed, list) = body.split_at_checked(registers / 2)?;
    let nibble = |slot: usize| packed[slot / 2] >> (4 * (slot % 2)) & 15;
    let mut expected = BTreeSet::new();
    for slot in 0..registers {
        match nibble(slot) {
            EXCEPTION => _ = expected.insert(slot as u32),
            above if least > MOST - above => return Some("a register above 63"),
            _ => {}
        }
    }
    let entries =
        list.chunks_exact(4).map(|four| four.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)));
    let slot_of = |entry: u32| entry & ((1 << SLOT_BITS) - 1) & (registers as u32 - 1);
    let found: BTreeSet<u32> = entries.filter(|&entry| entry != 0).map(slot_of).collect();
    (expected != found).then_some("exceptions that do not belong to the registers")
}
