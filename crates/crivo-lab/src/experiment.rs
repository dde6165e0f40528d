//! The definition of an experiment, and the list of all forty.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::report::{ExperimentReport, Verdict};
use crate::{applications, counting, distinct, errata, frequency, hashing, membership, sampling, similarity};

/// The texts that the experiments come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// *MPEI — resumo*, Paulo J. S. G. Ferreira, Universidade de Aveiro, 2014.
    Summary,
    /// *Bloom-filter + locality-sensitive hashing*, Pedro Martins and Ricardo Jesus, Universidade
    /// de Aveiro, 2015.
    Project,
    /// *LSML #7: Трюки с хэшированием* ("Tricks with hashing"), slides of a course.
    Slides,
    /// *Algoritmos de dados massivos* ("Algorithms for massive data"), chapter 5 of a textbook.
    Chapter,
}

impl Text {
    /// Returns the title of the text.
    pub fn title(self) -> &'static str {
        match self {
            Self::Summary => "MPEI — resumo (Ferreira, 2014)",
            Self::Project => "Bloom-filter + locality-sensitive hashing (Martins, Jesus, 2015)",
            Self::Slides => "LSML #7: Трюки с хэшированием",
            Self::Chapter => "Algoritmos de dados massivos, chapter 5",
        }
    }
}

/// A place in one of the texts.
pub type Source = (Text, &'static str);

/// A claim, and the code that tests it.
#[derive(Debug, Clone, Copy)]
pub struct Experiment {
    /// The name on the command line.
    pub name: &'static str,
    /// The subject in a few words.
    pub title: &'static str,
    /// The claim in one sentence.
    pub claim: &'static str,
    /// The texts with the claim.
    pub sources: &'static [Source],
    /// The verdict with a correct implementation.
    pub expected: Verdict,
    /// Runs the experiment.
    pub run: fn(&Context<'_>) -> Result<ExperimentReport>,
}

/// Returns all experiments, in the order of the library's modules.
pub fn experiments() -> &'static [&'static Experiment] {
    &[
        &counting::half::EXPERIMENT,
        &counting::sixty_fourth::EXPERIMENT,
        &counting::morris::EXPERIMENT,
        &counting::property::EXPERIMENT,
        &counting::expectation::EXPERIMENT,
        &counting::stream_sum::EXPERIMENT,
        &hashing::birthdays::EXPERIMENT,
        &hashing::forgery::EXPERIMENT,
        &hashing::distribution::EXPERIMENT,
        &hashing::correlation::EXPERIMENT,
        &hashing::independence::EXPERIMENT,
        &membership::hashes::EXPERIMENT,
        &membership::size::EXPERIMENT,
        &membership::practice::EXPERIMENT,
        &membership::memory::EXPERIMENT,
        &membership::sets::EXPERIMENT,
        &membership::semi_join::EXPERIMENT,
        &membership::counting_filter::EXPERIMENT,
        &membership::optimum::EXPERIMENT,
        &frequency::count_min::EXPERIMENT,
        &frequency::cost::EXPERIMENT,
        &frequency::join_size::EXPERIMENT,
        &frequency::ranges::EXPERIMENT,
        &frequency::private::EXPERIMENT,
        &frequency::majority::EXPERIMENT,
        &frequency::invariant::EXPERIMENT,
        &sampling::reservoir::EXPERIMENT,
        &distinct::methods::EXPERIMENT,
        &distinct::hyperloglog::EXPERIMENT,
        &distinct::partition::EXPERIMENT,
        &similarity::min_hash::EXPERIMENT,
        &similarity::columns::EXPERIMENT,
        &similarity::bands::EXPERIMENT,
        &similarity::all_pairs::EXPERIMENT,
        &similarity::exact::EXPERIMENT,
        &applications::similar_users::EXPERIMENT,
        &applications::equal_sets::EXPERIMENT,
        &applications::crawler::EXPERIMENT,
        &applications::mail::EXPERIMENT,
        &errata::EXPERIMENT,
    ]
}

/// Returns the experiment with this name.
///
/// # Errors
/// If there is none. The error lists the most similar names.
pub fn find(name: &str) -> Result<&'static Experiment> {
    if let Some(found) = experiments().iter().find(|experiment| experiment.name == name) {
        return Ok(found);
    }
    let mut ranked: Vec<(f64, &'static str)> = experiments()
        .iter()
        .map(|experiment| (strsim::jaro_winkler(name, experiment.name), experiment.name))
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let nearest = ranked.into_iter().filter(|(likeness, _)| *likeness > 0.7).take(2);
    Err(Error::Unknown { name: name.into(), nearest: nearest.map(|(_, name)| name).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_different_and_easy_to_type() {
        let mut names: Vec<&str> = experiments().iter().map(|experiment| experiment.name).collect();
        assert!(
            names
                .iter()
                .all(|name| name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'))
        );
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), experiments().len());
    }

    #[test]
    fn claims_are_one_sentence_with_a_source() {
        for experiment in experiments() {
            assert!(
                experiment.claim.ends_with('.') && !experiment.claim.contains(". "),
                "{}",
                experiment.name
            );
            assert!(!experiment.sources.is_empty(), "{}", experiment.name);
            assert_ne!(experiment.expected, Verdict::Doubtful, "{}", experiment.name);
        }
    }

    #[test]
    fn what_is_misspelt_is_recognised() {
        let Err(Error::Unknown { nearest, .. }) = find("moris") else { panic!("found") };
        assert_eq!(nearest.first(), Some(&"morris"));
        assert!(find("qqqq").unwrap_err().to_string().contains("crivo lab list"));
        assert_eq!(find("bands").unwrap().name, "bands");
    }
}
