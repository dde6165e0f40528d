//! Orders of an invented shop, and its customers: a table as people get them.
//!
//! Every column shows something that `crivo profile` reports: a key, a column that joins, days in
//! three formats because the export changed twice, amounts with thousands separators, columns of
//! few and of many different values, a majority value, missing values, an empty column, a column
//! that changes its type midway, and notes that often say nearly the same.

use std::fmt::Write as _;

use super::Random;

const ORDERS: u64 = 4_000;
const CUSTOMERS: u64 = 1_200;
/// The orders from which the format of days changes.
const NEW_DAYS: [u64; 2] = [2_400, 3_300];
/// The order from which a rating may be a word.
const WORDS_FROM: u64 = 2_950;

const FIRST_NAMES: [&str; 16] = [
    "Ana", "Rui", "Eva", "Zé", "Inês", "Tomás", "Lea", "Jonas", "Mila", "Noé", "Aya", "Kofi", "Clara", "Ivo",
    "Nadia", "Otto",
];
const LAST_NAMES: [&str; 14] = [
    "Prado", "Seixas", "Lobo", "Winter", "Kraft", "Duarte", "Mensah", "Okano", "Reis", "Vidal", "Falk",
    "Amado", "Nunes", "Serra",
];
const COUNTRIES: [&str; 8] = ["PT", "BR", "DE", "ES", "FR", "AO", "JP", "MZ"];
const PRODUCTS: [(&str, &str, u64); 12] = [
    ("Flour sieve 18 cm", "kitchen", 1_290),
    ("Tea strainer", "kitchen", 650),
    ("Gold pan", "garden", 2_400),
    ("Soil riddle", "garden", 3_150),
    ("\"Colander, enamel\"", "kitchen", 2_890),
    ("Sand sieve set", "toys", 1_490),
    ("Laboratory sieve 63 µm", "laboratory", 18_900),
    ("Sieve shaker", "laboratory", 214_900),
    ("Coffee dripper", "kitchen", 990),
    ("Beekeeper's strainer", "garden", 4_600),
    ("Flour sieve 24 cm", "kitchen", 1_690),
    ("Replacement mesh", "spare parts", 390),
];
const WISHES: [&str; 8] = [
    "please leave the parcel with the neighbour on the second floor if nobody opens the door",
    "this is a present for my grandmother so please do not put the invoice into the box",
    "the bell does not work at the moment so please call the number that you find above",
    "could you wrap each piece on its own in paper because the last delivery arrived scratched",
    "we need the goods for the market on Saturday so a later day is of no use to us",
    "the gate of the yard is closed after six in the evening and opens again at seven",
    "I ordered the wrong size last week and send that one back in the same box as it came",
    "if the blue one is sold out the green one will do and I pay the difference when it comes",
];
const ENDINGS: [&str; 4] = ["", " Thanks", " Many thanks", " thank you!"];
const WORDS: [&str; 24] = [
    "mesh", "round", "steel", "fine", "coarse", "kitchen", "second", "again", "light", "handle", "paper",
    "river", "winter", "early", "garden", "school", "copper", "sand", "bakery", "honey", "market", "window",
    "morning", "slowly",
];

/// Returns the text of `samples/orders.csv`.
pub(super) fn orders() -> String {
    let mut random = Random(2);
    let mut text = String::from(
        "order,ordered_on,customer,country,product,category,quantity,unit_price,amount,paid,voucher,rating,shelf,note\n",
    );
    for order in 0..ORDERS {
        let id = format!("A-{:06}", 100_000 + order * 7 + random.below(7));
        let day = day_of(order, 20_454 + order * 180 / ORDERS);
        let customer = 1 + random.popular(CUSTOMERS);
        let country = if random.below(9) < 5 { COUNTRIES[0] } else { COUNTRIES[random.popular(8) as usize] };
        let (product, category, cents) = PRODUCTS[random.popular(PRODUCTS.len() as u64) as usize];
        let quantity = 1 + random.popular(6) * random.popular(3);
        let cents = cents - cents * random.below(4) * 5 / 100;
        let amount = amount_of(cents * quantity);
        let paid = if random.below(12) == 0 { "false" } else { "true" };
        let voucher =
            if random.below(8) == 0 { format!("SAVE{}", 5 * (1 + random.below(4))) } else { String::new() };
        let rating = rating_of(order, &mut random);
        let note = note_of(&mut random);
        let _ = writeln!(
            text,
            "{id},{day},C{customer:04},{country},{product},{category},{quantity},{}.{:02},{amount},{paid},{voucher},{rating},,{note}",
            cents / 100,
            cents % 100
        );
    }
    text
}

/// Returns the text of `samples/customers.csv`.
pub(super) fn customers() -> String {
    let mut random = Random(3);
    let mut text = String::from("customer,name,email,country,since\n");
    for customer in 1..=CUSTOMERS {
        let first = FIRST_NAMES[random.below(FIRST_NAMES.len() as u64) as usize];
        let last = LAST_NAMES[random.below(LAST_NAMES.len() as u64) as usize];
        let email = if random.below(15) == 0 {
            String::new()
        } else {
            format!("{}{customer}@example.{}", plain(last), ["org", "com", "net"][random.below(3) as usize])
        };
        let country = COUNTRIES[random.popular(8) as usize];
        let (year, month, day) = (2015 + random.below(11), 1 + random.below(12), 1 + random.below(28));
        let _ = writeln!(text, "C{customer:04},{first} {last},{email},{country},{year}-{month:02}-{day:02}");
    }
    text
}

/// Returns a day, counted from 1970, in the format of the export at the time of the order.
fn day_of(order: u64, days: u64) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (year, month, day) = date(days);
    match NEW_DAYS.iter().filter(|&&from| order >= from).count() {
        0 => format!("{year}-{month:02}-{day:02}"),
        1 => format!("{day:02}/{month:02}/{year}"),
        _ => format!("{day} {} {year}", MONTHS[month as usize - 1]),
    }
}

/// Returns the year, month and day of a number of days after 1970-01-01 (Hinnant's algorithm, for
/// years after 1970).
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Returns an amount with commas between thousands, quoted if it has one.
fn amount_of(cents: u64) -> String {
    let (whole, rest) = (cents / 100, cents % 100);
    if whole < 1000 {
        format!("{whole}.{rest:02}")
    } else {
        format!("\"{},{:03}.{rest:02}\"", whole / 1000, whole % 1000)
    }
}

fn rating_of(order: u64, random: &mut Random) -> String {
    match random.below(10) {
        0..4 => String::new(),
        4 if order >= WORDS_FROM => ["good", "poor"][random.below(2) as usize].into(),
        _ => (5 - random.popular(5)).to_string(),
    }
}

/// Returns a note: mostly empty, sometimes one of a few wishes with slightly different endings, or
/// random words.
fn note_of(random: &mut Random) -> String {
    match random.below(10) {
        0..6 => String::new(),
        6..8 => {
            let wish = WISHES[random.popular(WISHES.len() as u64) as usize];
            format!("{wish}{}", ENDINGS[random.below(4) as usize])
        }
        _ => {
            let words: Vec<&str> =
                (0..12 + random.below(6)).map(|_| WORDS[random.below(WORDS.len() as u64) as usize]).collect();
            words.join(" ")
        }
    }
}

fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphabetic).collect::<String>().to_lowercase()
}
