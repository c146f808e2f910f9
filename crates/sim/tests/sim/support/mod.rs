//! Verified runs, access to their tables, and files in memory.

#![allow(dead_code, reason = "each test program uses its part")]

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, UInt64Type};
use skywave_sim::{Registry, Results, RunOptions, Scenario, run};

/// A file in memory that the test can still read after passing it on.
#[derive(Clone, Default)]
pub(crate) struct SharedFile(Arc<Mutex<Vec<u8>>>);

impl SharedFile {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs a scenario, with physics verified.
#[track_caller]
pub(crate) fn run_verified(toml: &str) -> Results {
    let scenario =
        Scenario::from_toml(toml, &Registry::default()).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions {
        verify_physics: true,
        ..RunOptions::default()
    };
    let results = run(&scenario, &Registry::default(), options, |_| true).unwrap();
    assert_eq!(results.violations, Vec::<String>::new());
    results
}

/// The table of this name, which must exist.
#[track_caller]
pub(crate) fn table<'a>(results: &'a Results, name: &str) -> &'a RecordBatch {
    let found = results.tables.iter().find(|(table, _)| *table == name);
    found.map(|(_, batch)| batch).unwrap()
}

/// A column of numbers; null entries have arbitrary values.
pub(crate) fn floats<'a>(batch: &'a RecordBatch, column: &str) -> &'a [f64] {
    let column = batch.column_by_name(column).unwrap();
    column.as_primitive::<Float64Type>().values()
}

/// A column of counts.
pub(crate) fn counts<'a>(batch: &'a RecordBatch, column: &str) -> &'a [u64] {
    let column = batch.column_by_name(column).unwrap();
    column.as_primitive::<UInt64Type>().values()
}

/// A column of names.
pub(crate) fn words<'a>(batch: &'a RecordBatch, column: &str) -> Vec<&'a str> {
    let column = batch.column_by_name(column).unwrap();
    let column = column.as_dictionary::<Int32Type>();
    let words = column.values().as_string::<i32>();
    let keys = column.keys().values().iter();
    keys.map(|&key| words.value(key as usize)).collect()
}
