//! A table whose keys are hashes already.

use hashbrown::HashMap;

use crate::hash::TableSecret;

/// A table by hashes, which are mixed with the secret of the process: values are chosen by those who write the data.
pub(super) type ByHash<V> = HashMap<u64, V, TableSecret>;
