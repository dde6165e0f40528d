use super::*;

#[test]
fn share_is_a_number_or_percent() {
    assert_eq!(share("0.01"), Ok(0.01));
    assert_eq!(share("1%"), Ok(0.01));
    assert_eq!(share("2.5 %"), Ok(0.025));
    for wrong in ["", "%", "one", "nan", "inf", "1%%"] {
        assert!(share(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn whole_numbers_have_short_forms() {
    for (text, number) in [
        ("0", 0),
        ("18446744073709551615", u64::MAX),
        ("10_000", 10_000),
        ("1e9", 1_000_000_000),
        ("2.5M", 2_500_000),
        ("10k", 10_000),
    ] {
        assert_eq!(whole(text), Ok(number), "{text}");
    }
    for wrong in ["", "-1", "1.5", "ten", "k", "1e30", "inf", "nan", "5m"] {
        assert!(whole(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn seed_is_a_number_or_random() {
    assert_eq!("random".parse(), Ok(Seed::Random));
    assert_eq!(u64::MAX.to_string().parse(), Ok(Seed::Number(u64::MAX)));
    for wrong in ["", "-1", "1.5", "18446744073709551616", "Random"] {
        assert!(wrong.parse::<Seed>().is_err(), "{wrong}");
    }
}
