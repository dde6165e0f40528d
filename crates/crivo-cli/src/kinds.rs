//! Which question a sketch answers, for messages: what made it, and what to ask it.

use crivo::codec::Family;

/// What a user needs to know about a kind of sketch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    /// The command that makes one.
    pub(crate) made_by: &'static str,
    /// The question it answers.
    pub(crate) answers: &'static str,
    /// The command that asks it.
    pub(crate) asked_by: &'static str,
}

pub(crate) fn of(family: Family) -> Kind {
    match family {
        Family::HyperLogLog => {
            Kind { made_by: "crivo distinct", answers: "how many different", asked_by: "crivo show" }
        }
        // A family the library has and the command line does not know yet.
        _ => Kind { made_by: "the crivo library", answers: "what its kind answers", asked_by: "crivo show" },
    }
}
