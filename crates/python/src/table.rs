//! A table of a run's results, column by column.

use arrow_pyarrow::ToPyArrow;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use skywave_sim::arrow_array::cast::AsArray;
use skywave_sim::arrow_array::types::{Float64Type, Int32Type, UInt32Type, UInt64Type};
use skywave_sim::arrow_array::{ArrayRef, RecordBatch};

/// A table whose columns Python reads one by one: a record batch of pyarrow costs more than a short
/// run.
#[pyclass(frozen, module = "skywave._core")]
pub(crate) struct Table(pub(crate) RecordBatch);

#[pymethods]
impl Table {
    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<&str> {
        let fields = self.0.schema_ref().fields();
        fields.iter().map(|field| &**field.name()).collect()
    }

    /// A column of numbers: float64 in native byte order, NaN for a null.
    fn numbers<'py>(&self, py: Python<'py>, column: &str) -> PyResult<Bound<'py, PyBytes>> {
        let numbers = self.0.column_by_name(column).and_then(numbers);
        let numbers = numbers.ok_or_else(|| missing(column))?;
        let bytes: Vec<u8> = numbers.into_iter().flat_map(f64::to_ne_bytes).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    /// A column of flows or links: their names, and of each row the index of its name, as int32 in
    /// native byte order.
    fn names<'py>(
        &self,
        py: Python<'py>,
        column: &str,
    ) -> PyResult<(Vec<&str>, Bound<'py, PyBytes>)> {
        let names = self.0.column_by_name(column).and_then(|column| {
            let column = column.as_dictionary_opt::<Int32Type>()?;
            let names = column.values().as_string_opt::<i32>()?;
            Some((names.iter().flatten().collect(), column.keys().values()))
        });
        let (names, indices) = names.ok_or_else(|| missing(column))?;
        let bytes: Vec<u8> = indices.iter().copied().flat_map(i32::to_ne_bytes).collect();
        Ok((names, PyBytes::new(py, &bytes)))
    }

    /// The whole table as a `pyarrow.RecordBatch`.
    fn to_arrow<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.0.to_pyarrow(py)
    }
}

fn numbers(column: &ArrayRef) -> Option<Vec<f64>> {
    let or_nan = |value: Option<f64>| value.unwrap_or(f64::NAN);
    if let Some(column) = column.as_primitive_opt::<Float64Type>() {
        Some(column.iter().map(or_nan).collect())
    } else if let Some(column) = column.as_primitive_opt::<UInt64Type>() {
        let values = column.iter().map(|value| value.map(|value| value as f64));
        Some(values.map(or_nan).collect())
    } else {
        let column = column.as_primitive_opt::<UInt32Type>()?;
        let values = column.iter().map(|value| value.map(f64::from));
        Some(values.map(or_nan).collect())
    }
}

fn missing(column: &str) -> PyErr {
    PyKeyError::new_err(column.to_owned())
}
