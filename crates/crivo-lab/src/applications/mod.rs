//! Applications of the sketches: similar users, equal sets, a crawler, a mail filter.

pub(crate) mod crawler;
pub(crate) mod equal_sets;
pub(crate) mod mail;
pub(crate) mod similar_users;

use std::borrow::Cow;
use std::collections::BTreeMap;

use crivo::keys::KeyScheme;
use crivo_near::{SetBuilder, SetCollection};

use crate::prelude::*;

/// Returns the sets of films of the users in a list of ratings.
fn collect(rows: &[(u32, u32)], scheme: KeyScheme) -> Result<SetCollection> {
    let mut builder = SetBuilder::default();
    for (&(user, film), place) in rows.iter().zip(0_u64..) {
        builder.insert(place, user.to_string().as_bytes(), scheme.hash(&u64::from(film))?)?;
    }
    Ok(SetCollection::new(vec![builder], 1)?)
}

/// Returns the name of a set, which is the number of a user.
fn user(sets: &SetCollection, set: u32) -> u32 {
    std::str::from_utf8(sets.name(set)).ok().and_then(|name| name.parse().ok()).unwrap_or(0)
}

/// The shape of a generated list of ratings, similar to real ones. A few films are seen by all
/// users and many by few. Some users rated 20 films and some hundreds. Some users repeat films of
/// the user before, with a part of them replaced.
struct LookAlike {
    users: u32,
    films: usize,
    ratings: usize,
}

impl LookAlike {
    /// Returns the ratings of the given file, or else a generated list.
    fn given_or_generated<'c>(
        &self,
        context: &'c Context<'_>,
        report: &mut ExperimentReport,
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
        // A user has 20 films and an exponential number more, so that all users together have the
        // requested number of ratings.
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
                // The films of the user before, with some replaced.
                Some((similarity, before)) => {
                    let size = before.len() as f64;
                    // Two sets of the same size with c common elements have the similarity
                    // c/(2·size − c).
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
