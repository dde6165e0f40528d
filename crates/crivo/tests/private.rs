//! What users of private counts rely on.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // this is how a test fails

use crivo::frequency::private::{
    Budget, PredictableBits, PrivateClient, PrivateCountMean, Protocol, RandomBits, reports_in,
};
use crivo::keys::KeyScheme;
use crivo::{Confidence, ErrorKind, Estimate};

/// Who uses which emoji, in thousandths: two languages with tastes of their own.
const EMOJI: [&str; 8] = ["😂", "❤️", "😍", "😘", "😊", "🙂", "😭", "👍"];
const ENGLISH: [u32; 8] = [330, 140, 90, 60, 80, 40, 190, 70];
const FRENCH: [u32; 8] = [210, 230, 120, 170, 90, 60, 50, 70];

/// Two languages report to servers of their own, which never see an emoji; each finds its
/// language's taste.
#[test]
fn emoji_of_two_languages_are_recovered() {
    const PEOPLE: u32 = 100_000;
    let protocol = Protocol::new(4.0, 256, 256).unwrap();
    let mut coins = PredictableBits::new(2024);
    let favourites = [ENGLISH, FRENCH].map(|shares| {
        // What is sent: a header, and a report of every person.
        let mut file = protocol.header();
        for (emoji, share) in EMOJI.iter().zip(shares) {
            for _ in 0..PEOPLE / 1000 * share {
                let mut client = PrivateClient::new(protocol, 4.0).unwrap();
                client.encode(*emoji, &mut coins).unwrap().encode_to(&mut file);
            }
        }
        // What is received.
        let mut server = PrivateCountMean::new(Protocol::from_header(&file[..36]).unwrap()).unwrap();
        server.insert_records(&file[36..]).unwrap();
        assert_eq!(server.reports(), PEOPLE.into());

        let answers = server.answers();
        let counts = EMOJI.map(|emoji| answers.frequency_at(emoji, Confidence::P99).unwrap());
        for (count, share) in counts.iter().zip(shares) {
            let truth = f64::from(PEOPLE / 1000 * share);
            assert!((count.value() - truth).abs() < 0.02 * f64::from(PEOPLE), "{count} instead of {truth}");
            assert!(count.upper() - count.lower() < 0.06 * f64::from(PEOPLE), "{count}");
        }
        let never = answers.frequency("🦖").unwrap();
        assert!(never.lower() == 0.0 && never.value() < 0.02 * f64::from(PEOPLE), "{never}");
        let mut ranked: Vec<(&str, f64)> = EMOJI.into_iter().zip(counts.map(Estimate::value)).collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        [ranked[0].0, ranked[1].0, ranked[2].0]
    });
    assert_eq!(favourites, [["😂", "😭", "❤️"], ["❤️", "😂", "😘"]]);
}

#[test]
fn a_client_refuses_to_spend_more_than_its_budget() {
    let protocol = Protocol::new(0.1, 4, 16).unwrap();
    let mut coins = PredictableBits::new(1);
    let mut client = PrivateClient::new(protocol, 0.35).unwrap();
    (0..3).for_each(|_| {
        client.encode("mine", &mut coins).unwrap();
    });
    let before = client.clone();
    let error = client.encode("mine", &mut coins).unwrap_err();
    assert_eq!((error.kind(), error.field()), (ErrorKind::BudgetExceeded, "budget"));
    assert!(error.to_string().contains("0.1 left for this report") && error.to_string().contains("of 0.35"));
    assert_eq!(client, before, "a refusal spends nothing");
    assert!((client.budget().spent() - 0.3).abs() < 1e-12);
    assert!((client.budget().remaining() - 0.05).abs() < 1e-12);

    // The same person at another client goes on with the same ledger.
    let cheaper = Protocol::new(0.05, 4, 16).unwrap();
    let mut other = PrivateClient::with_budget(cheaper, *client.budget());
    assert!(other.encode("mine", &mut coins).is_ok() && other.encode("mine", &mut coins).is_err());
}

#[test]
fn a_key_of_another_kind_spends_nothing() {
    let protocol = Protocol::new(1.0, 4, 16).unwrap().with_scheme(KeyScheme::integers());
    let mut client = PrivateClient::new(protocol, 1.0).unwrap();
    assert_eq!(client.encode("7", &mut PredictableBits::new(1)).unwrap_err().field(), "key kind");
    assert_eq!(client.budget().spent(), 0.0);
    assert!(client.encode(&7_u32, &mut PredictableBits::new(1)).is_ok());
    let server = PrivateCountMean::new(protocol).unwrap();
    assert_eq!(server.frequency("7").unwrap_err().field(), "key kind");
    assert_eq!(server.frequency(&7_u32).map(Estimate::is_exact), Ok(true));
}

#[test]
fn parameters_out_of_range_are_refused_before_anything_is_allocated() {
    for (epsilon, rows, width, field) in [
        (f64::NAN, 4, 16, "epsilon"),
        (0.0, 4, 16, "epsilon"),
        (-1.0, 4, 16, "epsilon"),
        (33.0, 4, 16, "epsilon"),
        (1.0, 0, 16, "rows"),
        (1.0, 1 << 20, 16, "rows"),
        (1.0, 4, 1, "width"),
        (1.0, 4, u32::MAX, "width"),
    ] {
        let error = Protocol::new(epsilon, rows, width).unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidParameter, field));
    }
    let protocol = Protocol::new(1.0, 4, 16).unwrap();
    for budget in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(PrivateClient::new(protocol, budget).unwrap_err().field(), "budget");
    }
    let spent = Budget::with_spent(1.0, 1.0).unwrap();
    let mut nothing_left = PrivateClient::with_budget(protocol, spent);
    assert!(nothing_left.encode("x", &mut PredictableBits::new(1)).is_err());
}

/// The same coins and the same key: the same bytes, and no more words drawn for one key than for
/// another.
#[test]
fn what_a_client_draws_does_not_depend_on_the_key() {
    let protocol = Protocol::new(3.0, 64, 1000).unwrap();
    let draw = |key: &str| {
        let (mut words, mut source) = (0, PredictableBits::new(9));
        let mut counted = || {
            words += 1;
            source.bits()
        };
        let report = PrivateClient::new(protocol, 3.0).unwrap().encode(key, &mut counted).unwrap();
        (words, report)
    };
    let (words, report) = draw("ana");
    assert_eq!(draw("ana"), (words, report.clone()));
    let (other_words, other_report) = draw("rui");
    assert_eq!(words, other_words);
    let differing: u32 =
        report.bit_vector().iter().zip(other_report.bit_vector()).map(|(a, b)| (a ^ b).count_ones()).sum();
    assert_eq!(differing, 2, "two keys differ in two bits");
    assert!(words < 1000 / 6, "{words} words for 1000 coins");
}

/// The bounds narrow with the number of reports and widen with the confidence, and are limits of a
/// count.
#[test]
fn bounds_are_those_of_a_count() {
    let protocol = Protocol::for_reports(4.0, 20_000).unwrap();
    let (mut client, mut coins) = (PrivateClient::new(protocol, 1e9).unwrap(), PredictableBits::new(5));
    let mut server = PrivateCountMean::new(protocol).unwrap();
    for i in 0..20_000_u32 {
        let key = if i % 4 == 0 { "quarter" } else { "rest" };
        server.insert(&client.encode(key, &mut coins).unwrap()).unwrap();
    }
    let widths = [0.5, 0.95, 0.999].map(|level| {
        let quarter = server.frequency_at("quarter", Confidence::new(level).unwrap()).unwrap();
        assert!(quarter.lower() >= 0.0 && quarter.upper() <= 20_000.0);
        quarter.upper() - quarter.lower()
    });
    assert!(widths.is_sorted_by(|a, b| a < b), "{widths:?}");
    let expected = 2.0 * 1.96 * protocol.standard_error(20_000);
    assert!(widths[1] >= expected && widths[1] < 1.6 * expected, "{} beside {expected}", widths[1]);
    assert!(server.memory() > 4 * protocol.rows() as usize * 1024);
    let (read, _) = reports_in(&protocol.header()).unwrap();
    assert_eq!(&read, server.protocol());
}
