//! Aggregates of values by group, of samples by flow or link. `numbers` has the group of each row.

use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(group_sums, module)?)?;
    module.add_function(wrap_pyfunction!(group_means, module)?)?;
    module.add_function(wrap_pyfunction!(group_largest, module)?)?;
    module.add_function(wrap_pyfunction!(group_spans, module)?)?;
    Ok(())
}

/// The sum of each of `count` groups; 0 without rows.
#[pyfunction]
fn group_sums(
    py: Python<'_>,
    numbers: PyBuffer<i32>,
    count: usize,
    values: PyBuffer<f64>,
) -> PyResult<Vec<f64>> {
    fold(py, &numbers, &values, vec![0.0; count], |sum, value| {
        sum + value
    })
}

/// The weighted mean of each of `count` groups, without values that are NaN; NaN without weights.
#[pyfunction]
fn group_means(
    py: Python<'_>,
    numbers: PyBuffer<i32>,
    count: usize,
    values: PyBuffer<f64>,
    weights: PyBuffer<f64>,
) -> PyResult<Vec<f64>> {
    let mut sums = vec![(0.0, 0.0); count];
    let values = values.to_vec(py)?.into_iter().zip(weights.to_vec(py)?);
    for (number, (value, weight)) in numbers.to_vec(py)?.into_iter().zip(values) {
        if !value.is_nan() {
            let (total, of) = &mut sums[number as usize];
            *total += value * weight;
            *of += weight;
        }
    }
    let mean = |(total, of)| if of > 0.0 { total / of } else { f64::NAN };
    Ok(sums.into_iter().map(mean).collect())
}

/// The largest value of each of `count` groups, without those that are NaN; NaN without rows.
#[pyfunction]
fn group_largest(
    py: Python<'_>,
    numbers: PyBuffer<i32>,
    count: usize,
    values: PyBuffer<f64>,
) -> PyResult<Vec<f64>> {
    fold(py, &numbers, &values, vec![f64::NAN; count], f64::max)
}

/// Combines the values of each group with what the group has, in the order of the rows.
fn fold(
    py: Python<'_>,
    numbers: &PyBuffer<i32>,
    values: &PyBuffer<f64>,
    mut groups: Vec<f64>,
    combine: impl Fn(f64, f64) -> f64,
) -> PyResult<Vec<f64>> {
    for (number, value) in numbers.to_vec(py)?.into_iter().zip(values.to_vec(py)?) {
        let group = &mut groups[number as usize];
        *group = combine(*group, value);
    }
    Ok(groups)
}

/// For each row, whether it is from the first marked row of its group to the last. Truth is a byte
/// that is not 0.
#[pyfunction]
fn group_spans<'py>(
    py: Python<'py>,
    numbers: PyBuffer<i32>,
    count: usize,
    marked: PyBuffer<u8>,
) -> PyResult<Bound<'py, PyBytes>> {
    let numbers = numbers.to_vec(py)?;
    let mut spans = vec![None; count];
    for (row, (&number, mark)) in numbers.iter().zip(marked.to_vec(py)?).enumerate() {
        if mark != 0 {
            let (_, last) = spans[number as usize].get_or_insert((row, row));
            *last = row;
        }
    }
    let is_within = |(row, &number): (usize, &i32)| {
        spans[number as usize].is_some_and(|(first, last)| first <= row && row <= last)
    };
    let within: Vec<_> = numbers
        .iter()
        .enumerate()
        .map(is_within)
        .map(u8::from)
        .collect();
    Ok(PyBytes::new(py, &within))
}
