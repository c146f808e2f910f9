//! Arrow tables from rows, column by column.

use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use skywave_units::{Duration, Instant};

use crate::world::ids::FlowId;

/// The key of a column's documentation in the metadata of its Arrow field.
pub(crate) const DOC: &str = "description";

/// A table made from rows, column by column.
pub struct Table<'a, R> {
    rows: &'a [R],
    links: &'a [String],
    flows: &'a [String],
    columns: Vec<(Field, ArrayRef)>,
}

impl<'a, R> Table<'a, R> {
    pub(crate) const fn new(rows: &'a [R], links: &'a [String], flows: &'a [String]) -> Self {
        Self {
            rows,
            links,
            flows,
            columns: Vec::new(),
        }
    }

    /// Adds a column of values, which may be null if the type is an [`Option`]. The name ends in
    /// the unit. `doc` describes the content in one sentence; for a sample it says what was
    /// sampled.
    #[must_use]
    pub fn column<V: Value>(
        mut self,
        name: &'static str,
        doc: &'static str,
        value: impl Fn(&R) -> V,
    ) -> Self {
        let array = V::array(self.rows.iter().map(value));
        self.push(name, doc, array, V::NULLABLE);
        self
    }

    /// Adds a column of flows, by name.
    #[must_use]
    pub fn flow(self, name: &'static str, doc: &'static str, flow: impl Fn(&R) -> FlowId) -> Self {
        let flows = self.flows;
        self.label(name, doc, flows, |row| flow(row).get())
    }

    /// Adds a column of directed links, by name.
    #[must_use]
    pub fn link(self, name: &'static str, doc: &'static str, link: impl Fn(&R) -> u32) -> Self {
        let links = self.links;
        self.label(name, doc, links, link)
    }

    /// Adds a column of words from `labels`, by each row's index, as an Arrow dictionary.
    ///
    /// # Panics
    /// If a row's index has no label.
    #[must_use]
    pub fn label(
        mut self,
        name: &'static str,
        doc: &'static str,
        labels: &[String],
        index: impl Fn(&R) -> u32,
    ) -> Self {
        let keys = Int32Array::from_iter_values(self.rows.iter().map(|row| index(row) as i32));
        let labels: ArrayRef = Arc::new(StringArray::from_iter_values(labels));
        let array = DictionaryArray::<Int32Type>::try_new(keys, labels)
            .expect("rows refer to labels that exist");
        self.push(name, doc, Arc::new(array), false);
        self
    }

    fn push(&mut self, name: &str, doc: &str, array: ArrayRef, nullable: bool) {
        let field = Field::new(name, array.data_type().clone(), nullable);
        let field = field.with_metadata([(DOC, doc)]);
        self.columns.push((field, array));
    }

    /// Returns the table.
    ///
    /// # Errors
    /// [`ArrowError`] if there is no column.
    pub fn finish(self) -> Result<RecordBatch, ArrowError> {
        let (fields, arrays): (Vec<_>, Vec<_>) = self.columns.into_iter().unzip();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
    }
}

/// A type of values in a column of a [`Table`].
pub trait Value: Sized {
    /// Whether values may be absent.
    const NULLABLE: bool;

    /// Returns a column of these values.
    fn array(values: impl Iterator<Item = Self>) -> ArrayRef;
}

macro_rules! numbers {
    ($($number:ty => $array:ident),+) => {$(
        impl Value for $number {
            const NULLABLE: bool = false;

            fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                Arc::new($array::from_iter_values(values))
            }
        }

        impl Value for Option<$number> {
            const NULLABLE: bool = true;

            fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                Arc::new($array::from_iter(values))
            }
        }
    )+};
}

numbers!(f64 => Float64Array, u64 => UInt64Array, u32 => UInt32Array);

/// Times are in seconds.
macro_rules! times {
    ($($time:ty),+) => {$(
        impl Value for $time {
            const NULLABLE: bool = false;

            fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                f64::array(values.map(Self::as_secs_f64))
            }
        }

        impl Value for Option<$time> {
            const NULLABLE: bool = true;

            fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
                Option::<f64>::array(values.map(|time| time.map(<$time>::as_secs_f64)))
            }
        }
    )+};
}

times!(Instant, Duration);

/// Recurring words, as an Arrow dictionary.
impl Value for &'static str {
    const NULLABLE: bool = false;

    fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
        Arc::new(values.collect::<DictionaryArray<Int32Type>>())
    }
}

impl Value for Option<&'static str> {
    const NULLABLE: bool = true;

    fn array(values: impl Iterator<Item = Self>) -> ArrayRef {
        Arc::new(values.collect::<DictionaryArray<Int32Type>>())
    }
}

/// Returns `None` if the value is infinite.
pub(crate) fn finite(value: f64) -> Option<f64> {
    Some(value).filter(|value| value.is_finite())
}
