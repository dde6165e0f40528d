//! A hash table whose keys are already hashes.

use hashbrown::HashMap;

use crate::hash::TableSecret;

/// A hash table by hashes. They are mixed with the secret of the process, because an attacker may
/// choose the values.
pub(super) type ByHash<V> = HashMap<u64, V, TableSecret>;
