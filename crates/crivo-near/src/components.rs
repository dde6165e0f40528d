//! Finds the members that pairs connect: disjoint sets that several threads join at once.

use std::sync::atomic::{AtomicU32, Ordering};

/// Disjoint sets of the members below a number. Each set is named by its smallest member, so the
/// result does not depend on the order of joins.
#[derive(Debug)]
pub(crate) struct Components(Vec<AtomicU32>);

impl Components {
    /// Creates a set for each member.
    pub(crate) fn new(members: u32) -> Self {
        Self((0..members).map(AtomicU32::new).collect())
    }

    /// Returns the smallest member connected with this one by the joins so far.
    pub(crate) fn root(&self, member: u32) -> u32 {
        let mut at = member;
        loop {
            let parent = self.0[at as usize].load(Ordering::Relaxed);
            if parent == at {
                return at;
            }
            let above = self.0[parent as usize].load(Ordering::Relaxed);
            // A member that has a parent always keeps one, so a shorter path may be stored at any
            // time.
            self.0[at as usize].store(above, Ordering::Relaxed);
            at = above;
        }
    }

    /// Connects two members.
    pub(crate) fn join(&self, one: u32, other: u32) {
        let (mut one, mut other) = (one, other);
        loop {
            (one, other) = (self.root(one), self.root(other));
            if one == other {
                return;
            }
            let (small, large) = (one.min(other), one.max(other));
            let root = &self.0[large as usize];
            // Another thread may have connected `large` in the meantime. Then both roots are looked
            // up again.
            if root.compare_exchange(large, small, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                return;
            }
        }
    }

    /// Returns the root of every member.
    pub(crate) fn into_roots(self) -> Vec<u32> {
        let mut roots: Vec<u32> = self.0.into_iter().map(AtomicU32::into_inner).collect();
        // Parents are smaller than their children, so a parent's entry is already its root.
        for member in 0..roots.len() {
            roots[member] = roots[roots[member] as usize];
        }
        roots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_connected_by_threads_have_the_smallest_as_root() {
        let components = Components::new(10_000);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let components = &components;
                scope.spawn(move || {
                    for member in (thread..10_000).step_by(4).filter(|member| member % 10 >= 2) {
                        components.join(member, member - 2);
                    }
                });
            }
        });
        let roots = components.into_roots();
        assert!(roots.iter().zip(0..).all(|(&root, member)| root == member / 10 * 10 + member % 2));
    }
}
