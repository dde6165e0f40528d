//! What the sketches are for: similar users, equal sets, a crawler, a mail filter.

pub(crate) mod crawler;
pub(crate) mod equal_sets;
pub(crate) mod mail;
pub(crate) mod similar_users;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crivo::keys::KeyScheme;
use crivo_near::{SetBuilder, SetCollection};

use crate::prelude::*;

/// The sets of films of the users in a list of ratings.
fn collect(rows: &[(u32, u32)], scheme: KeyScheme) -> Result<SetCollection> {
    let mut builder = SetBuilder::default();
    for (&(user, film), place) in rows.iter().zip(0_u64..) {
        builder.insert(place, user.to_string().as_bytes(), scheme.hash(&u64::from(film))?)?;
    }
    Ok(SetCollection::new(vec![builder], 1)?)
}

/// The name of a set, which is a user's number.
fn user(sets: &SetCollection, set: u32) -> u32 {
    std::str::from_utf8(sets.name(set)).ok().and_then(|name| name.parse().ok()).unwrap_or(0)
}

/// A list of ratings such as people leave: a few films that everybody saw and many that few did,
/// users who rated 20 films and users who rated hundreds; and `pairs` of users, of whom the second
/// has films of the first with `changed` of them replaced.
struct LookAlike {
    users: u32,
    films: usize,
    ratings: usize,
}

impl LookAlike {
    /// The ratings of the file that was named, or else such a list.
    fn given_or_generated<'c>(
        &self,
        context: &'c Context<'_>,
        report: &mut Report,
        twins: impl Fn(u32, &mut Random) -> Option<f64>,
        random: &mut Random,
    ) -> Cow<'c, [(u32, u32)]> {
        if let Some(ratings) = &context.inputs().ratings {
            report.file("movielens", &ratings.name);
            return Cow::Borrowed(&ratings.rows);
        }
        report.parameter("file", "generated");
        Cow::Owned(self.rows(twins, random))
    }

    fn rows(&self, twins: impl Fn(u32, &mut Random) -> Option<f64>, random: &mut Random) -> Vec<(u32, u32)> {
        let popularity = Weighted::zipf(self.films, 0.7);
        let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        // Activity: 20 films and an exponential number more, so that all add up to the ratings
        // wanted.
        let more = self.ratings as f64 / f64::from(self.users) - 20.0;
        let draw = |count: usize, random: &mut Random, films: &mut Vec<u32>| {
            while films.len() < count.min(self.films / 2) {
                let film = popularity.draw(random) as u32 + 1;
                if !films.contains(&film) {
                    films.push(film);
                }
            }
        };
        for user in 1..=self.users {
            let mut films = Vec::new();
            match twins(user, random).zip(sets.get(&(user.wrapping_sub(1)))) {
                // The films of the user before, some of them others.
                Some((similarity, before)) => {
                    let size = before.len() as f64;
                    // Of two sets of one size with c in common the similarity is c/(2·size − c).
                    let common = libm::round(2.0 * size * similarity / (1.0 + similarity)) as usize;
                    films = before[..common.min(before.len())].to_vec();
                    let mut others = before.clone();
                    let target = before.len();
                    while films.len() < target {
                        let film = popularity.draw(random) as u32 + 1;
                        if !others.contains(&film) {
                            others.push(film);
                            films.push(film);
                        }
                    }
                }
                None => draw(20 + (more * random.exponential()) as usize, random, &mut films),
            }
            sets.insert(user, films);
        }
        let mut rows: Vec<(u32, u32)> = sets
            .into_iter()
            .flat_map(|(user, films)| films.into_iter().map(move |film| (user, film)))
            .collect();
        random.shuffle(&mut rows);
        rows
    }
}
