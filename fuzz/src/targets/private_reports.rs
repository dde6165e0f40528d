//! Any bytes at all are refused as a file of reports, or hold reports that are written back the
//! same and add up.

use crivo::frequency::private::{PrivateCountMean, Protocol, Report, reports_in};

/// Checks the promise for one input.
pub fn check(bytes: &[u8]) {
    check_bytes(bytes);
    // The same contents under right checksums, so that the rules behind them are reached.
    let mut sealed = bytes.to_vec();
    if sealed.len() >= Protocol::HEADER_LEN {
        sealed[..5].copy_from_slice(b"CRVP\x01");
        let checksum = crc32fast::hash(&sealed[..32]).to_le_bytes();
        sealed[32..36].copy_from_slice(&checksum);
        if let Ok(protocol) = Protocol::from_header(&sealed[..Protocol::HEADER_LEN]) {
            let length = protocol.record_len();
            for record in sealed[Protocol::HEADER_LEN..].chunks_exact_mut(length) {
                let sum = crc32fast::hash(&[&checksum, &record[..length - 4]].concat());
                record[length - 4..].copy_from_slice(&sum.to_le_bytes());
            }
        }
        check_bytes(&sealed);
    }
}

fn check_bytes(bytes: &[u8]) {
    let Ok((protocol, reports)) = reports_in(bytes) else { return };
    let Ok(reports) = reports.collect::<Result<Vec<Report>, _>>() else { return };
    let mut again = protocol.header();
    reports.iter().for_each(|report| report.encode_to(&mut again));
    assert_eq!(again, bytes, "decoding and encoding changed the bytes");
    if u64::from(protocol.rows()) * u64::from(protocol.width()) > 1 << 20 {
        return; // a table this large would take most of the time
    }
    let (mut one_by_one, mut at_once) =
        (PrivateCountMean::new(protocol).unwrap(), PrivateCountMean::new(protocol).unwrap());
    reports.iter().for_each(|report| one_by_one.insert(report).expect("a report of this protocol"));
    at_once.insert_records(&bytes[Protocol::HEADER_LEN..]).expect("records of this protocol");
    assert_eq!(one_by_one, at_once);
    assert_eq!(at_once.reports(), reports.len() as u64);
    crate::check_decoding(&at_once.encode());
}
