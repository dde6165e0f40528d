//! Scalar functions: one value out for each row in.

use libduckdb_sys as duckdb;

use super::Registry;
use super::column::Chunk;
use super::guard::guarded;
use super::output::Output;
use super::types::{Type, c_string};
use crate::error::{Result, SqlError};

/// A scalar function.
pub(crate) trait Scalar: 'static {
    const NAME: &'static str;
    /// The parameters of each overload.
    const OVERLOADS: &'static [&'static [Type]];
    const RETURNS: Type;

    /// Writes the value of every row. A row is NULL if one of its parameters is NULL, unless the
    /// function is documented otherwise.
    fn run(chunk: &Chunk<'_>, out: &mut Output<'_>) -> Result<()>;
}

impl Registry {
    /// Registers a scalar function with all its overloads.
    pub(crate) fn scalar<S: Scalar>(&self) -> Result<()> {
        let name = c_string(S::NAME)?;
        let refused = || {
            SqlError::new(format!("DuckDB refuses the function {}: is another of that name there?", S::NAME))
        };
        // SAFETY: functions and their set are created, filled, registered and destroyed here;
        // DuckDB copies names, types and functions.
        unsafe {
            let mut set = duckdb::duckdb_create_scalar_function_set(name.as_ptr());
            for parameters in S::OVERLOADS {
                let mut function = duckdb::duckdb_create_scalar_function();
                duckdb::duckdb_scalar_function_set_name(function, name.as_ptr());
                for parameter in *parameters {
                    duckdb::duckdb_scalar_function_add_parameter(function, parameter.create()?.0);
                }
                duckdb::duckdb_scalar_function_set_return_type(function, S::RETURNS.create()?.0);
                // NULLs are handled here, so that the function is the same in all versions of
                // DuckDB.
                duckdb::duckdb_scalar_function_set_special_handling(function);
                duckdb::duckdb_scalar_function_set_function(function, Some(call::<S>));
                let added = duckdb::duckdb_add_scalar_function_to_set(set, function);
                duckdb::duckdb_destroy_scalar_function(&raw mut function);
                if added != duckdb::DuckDBSuccess {
                    duckdb::duckdb_destroy_scalar_function_set(&raw mut set);
                    return Err(refused());
                }
            }
            let registered = duckdb::duckdb_register_scalar_function_set(self.connection, set);
            duckdb::duckdb_destroy_scalar_function_set(&raw mut set);
            if registered == duckdb::DuckDBSuccess { Ok(()) } else { Err(refused()) }
        }
    }
}

/// # Safety
/// DuckDB calls it with a chunk and a vector that are valid for the call.
unsafe extern "C" fn call<S: Scalar>(
    info: duckdb::duckdb_function_info,
    input: duckdb::duckdb_data_chunk,
    output: duckdb::duckdb_vector,
) {
    let run = || {
        // SAFETY: both are valid for the call; the vector has room for the rows of the chunk.
        let (chunk, mut out) = unsafe { (Chunk::new(input), Output::new(output)) };
        S::run(&chunk, &mut out)
    };
    guarded(S::NAME, run, |message| {
        // SAFETY: DuckDB copies the message.
        unsafe { duckdb::duckdb_scalar_function_set_error(info, message.as_ptr()) };
    });
}
