//! A table whose keys are hashes already.

use hashbrown::HashMap;

use crate::hash::TableSecret;

/// A table by hashes, which are mixed with the secret of the process: an attacker may choose the
/// values.
pub(super) type ByHash<V> = HashMap<u64, V, TableSecret>;
