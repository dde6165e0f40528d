//! Vectors that results are written to.

use std::marker::PhantomData;

use crivo::Estimate;
use libduckdb_sys as duckdb;

/// A vector of results. The declared return type of the function determines which methods may be
/// called.
pub(crate) struct Output<'a> {
    vector: duckdb::duckdb_vector,
    life: PhantomData<&'a mut ()>,
}

impl Output<'_> {
    /// # Safety
    /// The vector must be valid as long as the value, have the type that the function declares, and
    /// have room for its rows.
    pub(super) unsafe fn new(vector: duckdb::duckdb_vector) -> Self {
        Self { vector, life: PhantomData }
    }

    /// Sets a row to NULL.
    pub(crate) fn null(&mut self, row: usize) {
        // SAFETY: the vector is valid, and has room for the row.
        unsafe {
            duckdb::duckdb_vector_ensure_validity_writable(self.vector);
            duckdb::duckdb_validity_set_row_invalid(
                duckdb::duckdb_vector_get_validity(self.vector),
                row as u64,
            );
        }
    }

    fn write<T>(&mut self, row: usize, value: T) {
        // SAFETY: the vector has room for the row, and `T` has the size of the declared type.
        unsafe { duckdb::duckdb_vector_get_data(self.vector).cast::<T>().add(row).write(value) };
    }

    pub(crate) fn double(&mut self, row: usize, value: f64) {
        self.write(row, value);
    }

    pub(crate) fn bigint(&mut self, row: usize, value: i64) {
        self.write(row, value);
    }

    pub(crate) fn boolean(&mut self, row: usize, value: bool) {
        self.write(row, value);
    }

    /// Writes a BLOB, or a VARCHAR if the bytes are UTF-8.
    pub(crate) fn bytes(&mut self, row: usize, value: &[u8]) {
        // SAFETY: DuckDB copies the bytes.
        unsafe {
            duckdb::duckdb_vector_assign_string_element_len(
                self.vector,
                row as u64,
                value.as_ptr().cast(),
                value.len() as u64,
            );
        }
    }

    /// Returns the vector of a field of a struct.
    pub(crate) fn field(&mut self, index: u64) -> Output<'_> {
        // SAFETY: the declared type has that field; the field's vector lives as long as this one.
        unsafe { Output::new(duckdb::duckdb_struct_vector_get_child(self.vector, index)) }
    }

    /// Sets a row to NULL, with all fields of its struct.
    pub(crate) fn null_struct(&mut self, row: usize, fields: u64) {
        self.null(row);
        (0..fields).for_each(|field| self.field(field).null(row));
    }

    /// Writes a struct of value, lower bound and upper bound.
    pub(crate) fn estimate(&mut self, row: usize, estimate: Estimate) {
        self.field(0).double(row, estimate.value());
        self.field(1).double(row, estimate.lower());
        self.field(2).double(row, estimate.upper());
    }

    /// Makes a row a list of `len` elements. Returns the vector of the elements, and the position
    /// of the first.
    pub(crate) fn list(&mut self, row: usize, len: usize) -> (Output<'_>, usize) {
        // SAFETY: the declared type is a list; room for the elements is reserved before the vector
        // is lent.
        let (child, first) = unsafe {
            let first = duckdb::duckdb_list_vector_get_size(self.vector);
            duckdb::duckdb_list_vector_reserve(self.vector, first + len as u64);
            duckdb::duckdb_list_vector_set_size(self.vector, first + len as u64);
            (duckdb::duckdb_list_vector_get_child(self.vector), first)
        };
        self.write(row, duckdb::duckdb_list_entry { offset: first, length: len as u64 });
        // SAFETY: the vector of the elements lives as long as the vector of the lists.
        (unsafe { Output::new(child) }, first as usize)
    }
}
