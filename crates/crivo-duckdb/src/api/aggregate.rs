//! Aggregate functions: many rows in, one value for each group out.
//!
//! DuckDB allocates the bytes of states and calls a function when a state begins and ends. It may
//! move those bytes, also to disk and back. The data that a state owns is on Rust's heap, so only
//! the pointer to it moves.

use std::marker::PhantomData;

use libduckdb_sys as duckdb;

use super::Registry;
use super::column::Chunk;
use super::guard::guarded;
use super::output::Output;
use super::prefetch::prefetch;
use super::types::{Type, c_string};
use crate::error::{Result, SqlError};

/// An aggregate function.
pub(crate) trait Aggregate: 'static {
    /// The state of a group.
    type State: Default;

    const NAME: &'static str;
    /// The parameters of each overload, and its return type.
    const OVERLOADS: &'static [(&'static [Type], Type)];

    /// Adds rows to the states of their groups.
    fn update(chunk: &Chunk<'_>, states: &mut States<'_, Self::State>) -> Result<()>;

    /// Merges `source` into `target`. The source is not changed, because DuckDB uses it again in
    /// windows.
    fn combine(source: &Self::State, target: &mut Self::State) -> Result<()>;

    /// Writes the answer of a state. DuckDB may add rows to the state afterwards.
    fn finish(state: &mut Self::State, row: usize, out: &mut Output<'_>) -> Result<()>;
}

/// The state of each row's group. Rows of one group have the same state, so states are lent one at
/// a time.
pub(crate) struct States<'a, S> {
    pointers: &'a [*mut S],
    life: PhantomData<&'a mut S>,
}

impl<S> States<'_, S> {
    /// Returns the state of a row's group.
    pub(crate) fn of_row(&mut self, row: usize) -> &mut S {
        // SAFETY: DuckDB passes valid states that it has initialised; `&mut self` lends one at a
        // time.
        unsafe { &mut *self.pointers[row] }
    }

    /// Calls `take` for the state of every row, or only once if all rows have the same state.
    pub(crate) fn each(&mut self, mut take: impl FnMut(&mut S) -> Result<()>) -> Result<()> {
        let rows = if self.is_single() { 1 } else { self.pointers.len() };
        (0..rows).try_for_each(|row| take(self.of_row(row)))
    }

    /// Returns true if all rows belong to one group.
    pub(crate) fn is_single(&self) -> bool {
        self.pointers.first().is_some_and(|first| self.pointers.iter().all(|state| state == first))
    }

    /// Prefetches the state of a row, if the row exists.
    #[inline]
    pub(crate) fn prefetch(&self, row: usize) {
        if let Some(state) = self.pointers.get(row) {
            prefetch(*state);
        }
    }

    /// Groups the entries of `rows` by state. `take` gets the state of each group and the positions
    /// of its entries, in their order.
    pub(crate) fn by_group(
        &mut self,
        rows: &[u32],
        mut take: impl FnMut(&mut S, &[u32]) -> Result<()>,
    ) -> Result<()> {
        let mut places: Vec<u32> = (0..rows.len() as u32).collect();
        let group_of = |place: &u32| self.pointers[rows[*place as usize] as usize];
        if !self.is_single() {
            // The sort is stable, so that the rows of a group keep their order.
            places.sort_by_key(group_of);
        }
        for group in places.chunk_by(|one, other| group_of(one) == group_of(other)) {
            // SAFETY: as in `of_row`; each group has a different state.
            take(unsafe { &mut *group_of(&group[0]) }, group)?;
        }
        Ok(())
    }
}

impl Registry {
    /// Registers an aggregate function with all its overloads.
    pub(crate) fn aggregate<A: Aggregate>(&self) -> Result<()> {
        let name = c_string(A::NAME)?;
        let refused = || {
            SqlError::new(format!("DuckDB refuses the function {}: is another of that name there?", A::NAME))
        };
        // SAFETY: functions and their set are created, filled, registered and destroyed here;
        // DuckDB copies names, types and functions.
        unsafe {
            let mut set = duckdb::duckdb_create_aggregate_function_set(name.as_ptr());
            for (parameters, returns) in A::OVERLOADS {
                let mut function = duckdb::duckdb_create_aggregate_function();
                duckdb::duckdb_aggregate_function_set_name(function, name.as_ptr());
                for parameter in *parameters {
                    duckdb::duckdb_aggregate_function_add_parameter(function, parameter.create()?.0);
                }
                duckdb::duckdb_aggregate_function_set_return_type(function, returns.create()?.0);
                duckdb::duckdb_aggregate_function_set_special_handling(function);
                duckdb::duckdb_aggregate_function_set_functions(
                    function,
                    Some(state_size::<A>),
                    Some(begin::<A>),
                    Some(update::<A>),
                    Some(combine::<A>),
                    Some(finish::<A>),
                );
                duckdb::duckdb_aggregate_function_set_destructor(function, Some(end::<A>));
                let added = duckdb::duckdb_add_aggregate_function_to_set(set, function);
                duckdb::duckdb_destroy_aggregate_function(&raw mut function);
                if added != duckdb::DuckDBSuccess {
                    duckdb::duckdb_destroy_aggregate_function_set(&raw mut set);
                    return Err(refused());
                }
            }
            let registered = duckdb::duckdb_register_aggregate_function_set(self.connection, set);
            duckdb::duckdb_destroy_aggregate_function_set(&raw mut set);
            if registered == duckdb::DuckDBSuccess { Ok(()) } else { Err(refused()) }
        }
    }
}

/// Reports an error of an aggregate function.
fn report(info: duckdb::duckdb_function_info) -> impl FnOnce(&std::ffi::CString) {
    move |message| {
        // SAFETY: the information is valid for the call that reports; DuckDB copies the message.
        unsafe { duckdb::duckdb_aggregate_function_set_error(info, message.as_ptr()) };
    }
}

/// # Safety
/// None: the function reads nothing.
unsafe extern "C" fn state_size<A: Aggregate>(_: duckdb::duckdb_function_info) -> u64 {
    const { assert!(align_of::<A::State>() <= 8, "DuckDB aligns states to 8 bytes") };
    size_of::<A::State>() as u64
}

/// # Safety
/// DuckDB calls it with the memory of a state, which is not initialised yet.
unsafe extern "C" fn begin<A: Aggregate>(
    info: duckdb::duckdb_function_info,
    state: duckdb::duckdb_aggregate_state,
) {
    let write = || {
        // SAFETY: the memory has the size of a state and is aligned.
        unsafe { state.cast::<A::State>().write(A::State::default()) };
        Ok(())
    };
    guarded(A::NAME, write, report(info));
}

/// # Safety
/// DuckDB calls it with a chunk and a state for each of its rows.
unsafe extern "C" fn update<A: Aggregate>(
    info: duckdb::duckdb_function_info,
    input: duckdb::duckdb_data_chunk,
    states: *mut duckdb::duckdb_aggregate_state,
) {
    let update = || {
        // SAFETY: the chunk is valid for the call.
        let chunk = unsafe { Chunk::new(input) };
        // SAFETY: there is a state for each row of the chunk.
        let pointers = unsafe { slice_of(states.cast::<*mut A::State>(), chunk.rows()) };
        A::update(&chunk, &mut States { pointers, life: PhantomData })
    };
    guarded(A::NAME, update, report(info));
}

/// # Safety
/// DuckDB calls it with two arrays of `count` states.
unsafe extern "C" fn combine<A: Aggregate>(
    info: duckdb::duckdb_function_info,
    source: *mut duckdb::duckdb_aggregate_state,
    target: *mut duckdb::duckdb_aggregate_state,
    count: u64,
) {
    let combine = || {
        // SAFETY: both arrays have `count` states.
        let (sources, targets) = unsafe {
            (
                slice_of(source.cast::<*mut A::State>(), count as usize),
                slice_of(target.cast::<*mut A::State>(), count as usize),
            )
        };
        for (source, target) in sources.iter().zip(targets) {
            // SAFETY: sources and targets are different states that DuckDB has initialised.
            A::combine(unsafe { &**source }, unsafe { &mut **target })?;
        }
        Ok(())
    };
    guarded(A::NAME, combine, report(info));
}

/// # Safety
/// DuckDB calls it with `count` states and with a vector that has room for them from `offset` on.
unsafe extern "C" fn finish<A: Aggregate>(
    info: duckdb::duckdb_function_info,
    source: *mut duckdb::duckdb_aggregate_state,
    result: duckdb::duckdb_vector,
    count: u64,
    offset: u64,
) {
    let finish = || {
        // SAFETY: the array has `count` states, and the vector is valid for the call.
        let (states, mut out) =
            unsafe { (slice_of(source.cast::<*mut A::State>(), count as usize), Output::new(result)) };
        for (at, state) in states.iter().enumerate() {
            // SAFETY: DuckDB has initialised the state, and each state is lent once.
            A::finish(unsafe { &mut **state }, offset as usize + at, &mut out)?;
        }
        Ok(())
    };
    guarded(A::NAME, finish, report(info));
}

/// # Safety
/// DuckDB calls it with `count` states, which it does not use afterwards.
unsafe extern "C" fn end<A: Aggregate>(states: *mut duckdb::duckdb_aggregate_state, count: u64) {
    let end = || {
        // SAFETY: the array has `count` states.
        for state in unsafe { slice_of(states.cast::<*mut A::State>(), count as usize) } {
            // SAFETY: the state was initialised, and is not used afterwards.
            unsafe { state.drop_in_place() };
        }
        Ok(())
    };
    guarded(A::NAME, end, |_| {});
}

/// Returns an array of DuckDB as a slice.
///
/// # Safety
/// The array has `len` elements.
unsafe fn slice_of<'a, T>(array: *const T, len: usize) -> &'a [T] {
    // SAFETY: the caller guarantees the length; an empty array may be null.
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(array, len) } }
}
