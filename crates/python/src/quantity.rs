//! Quantities with units as Python objects.
//!
//! Like the types of `skywave_units`, they count whole nanoseconds, bits per second and bytes, and
//! have the same syntax.

use pyo3::exceptions::{PyTypeError, PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;
use skywave_units::ParseQuantityError;

/// An operand or the result of multiplying or dividing a quantity.
#[derive(Clone, Copy, FromPyObject, IntoPyObject)]
pub(crate) enum Operand {
    Duration(Duration),
    Rate(Rate),
    Bytes(Bytes),
    Number(f64),
}

fn wrong(error: &ParseQuantityError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Rounds `value` to a whole number of the base unit.
fn whole(value: f64, unit: &str) -> PyResult<u64> {
    let rounded = value.round();
    if (0.0..u64::MAX as f64).contains(&rounded) {
        Ok(rounded as u64)
    } else {
        let message = format!("{value} {unit} cannot be held: a quantity is not negative");
        Err(PyValueError::new_err(message))
    }
}

macro_rules! quantity {
    ($name:ident, $doc:literal, $unit:literal, $get:ident, $new:ident, { $($own:tt)* }) => {
        #[doc = $doc]
        #[pyclass(frozen, eq, ord, hash, from_py_object, module = "skywave._core")]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $name(skywave_units::$name);

        impl $name {
            /// Creates a quantity from base units, rounded to a whole number.
            fn of(count: f64) -> PyResult<Self> {
                whole(count, $unit).map(|count| Self(skywave_units::$name::$new(count)))
            }

            /// Returns the number of base units.
            fn base(self) -> u64 {
                self.0.$get()
            }
        }

        #[pymethods]
        impl $name {
            #[new]
            fn new(value: &Bound<'_, PyAny>) -> PyResult<Self> {
                if let Ok(quantity) = value.extract::<Self>() {
                    return Ok(quantity);
                }
                let Ok(text) = value.extract::<String>() else {
                    let (given, name) = (value.repr()?, stringify!($name));
                    let message = format!("{given} is not a {name}: give text with a unit");
                    return Err(PyTypeError::new_err(message));
                };
                text.parse().map(Self).map_err(|error| wrong(&error))
            }

            fn __str__(&self) -> String {
                self.0.to_string()
            }

            fn __repr__(&self) -> String {
                format!("{}('{}')", stringify!($name), self.0)
            }

            fn __getnewargs__(&self) -> (String,) {
                (self.0.to_string(),)
            }

            fn __bool__(&self) -> bool {
                self.base() != 0
            }

            fn __add__(&self, other: Self) -> PyResult<Self> {
                Self::of(self.base() as f64 + other.base() as f64)
            }

            fn __sub__(&self, other: Self) -> PyResult<Self> {
                Self::of(self.base() as f64 - other.base() as f64)
            }

            fn __mul__(&self, other: Operand) -> PyResult<Operand> {
                product(Operand::$name(*self), other)
            }

            fn __rmul__(&self, other: Operand) -> PyResult<Operand> {
                product(Operand::$name(*self), other)
            }

            fn __truediv__(&self, other: Operand) -> PyResult<Operand> {
                quotient(Operand::$name(*self), other)
            }

            $($own)*
        }
    };
}

quantity!(
    Duration,
    "A length of time, in whole nanoseconds.",
    "ns",
    as_nanos,
    from_nanos,
    {
        /// Creates a duration from seconds.
        #[staticmethod]
        fn from_seconds(seconds: f64) -> PyResult<Self> {
            Self::of(seconds * 1e9)
        }

        /// Seconds.
        #[getter]
        fn seconds(&self) -> f64 {
            self.0.as_secs_f64()
        }
    }
);

quantity!(
    Rate,
    "A rate, in whole bits per second.",
    "bps",
    as_bps,
    from_bps,
    {
        /// Creates a rate from bits per second.
        #[staticmethod]
        fn from_bps(bits_per_second: f64) -> PyResult<Self> {
            Self::of(bits_per_second)
        }

        /// Bits per second.
        #[getter]
        fn bps(&self) -> u64 {
            self.base()
        }
    }
);

quantity!(Bytes, "A size, in whole bytes.", "B", get, new, {
    /// Creates a size from bytes.
    #[staticmethod]
    fn from_count(count: f64) -> PyResult<Self> {
        Self::of(count)
    }

    /// The number of bytes.
    #[getter]
    fn count(&self) -> u64 {
        self.base()
    }
});

fn product(left: Operand, right: Operand) -> PyResult<Operand> {
    use Operand::{Bytes as B, Duration as D, Number as N, Rate as R};
    Ok(match (left, right) {
        (D(time), N(factor)) => D(Duration::of(time.base() as f64 * factor)?),
        (R(rate), N(factor)) => R(Rate::of(rate.base() as f64 * factor)?),
        (B(size), N(factor)) => B(Bytes::of(size.base() as f64 * factor)?),
        (D(time), R(rate)) | (R(rate), D(time)) => {
            B(Bytes::of(time.seconds() * rate.base() as f64 / 8.0)?)
        }
        _ => {
            let message = "quantities multiply with numbers, and a rate with a duration";
            return Err(PyTypeError::new_err(message));
        }
    })
}

fn quotient(left: Operand, right: Operand) -> PyResult<Operand> {
    use Operand::{Bytes as B, Duration as D, Number as N, Rate as R};
    let divisor = match right {
        D(time) => time.base() as f64,
        R(rate) => rate.base() as f64,
        B(size) => size.base() as f64,
        N(number) => number,
    };
    if divisor == 0.0 {
        return Err(PyZeroDivisionError::new_err("division by zero"));
    }
    Ok(match (left, right) {
        (D(time), D(_)) => N(time.base() as f64 / divisor),
        (R(rate), R(_)) => N(rate.base() as f64 / divisor),
        (B(size), B(_)) => N(size.base() as f64 / divisor),
        (D(time), N(_)) => D(Duration::of(time.base() as f64 / divisor)?),
        (R(rate), N(_)) => R(Rate::of(rate.base() as f64 / divisor)?),
        (B(size), N(_)) => B(Bytes::of(size.base() as f64 / divisor)?),
        (B(size), R(_)) => D(Duration::from_seconds(8.0 * size.base() as f64 / divisor)?),
        (B(size), D(time)) => R(Rate::of(8.0 * size.base() as f64 / time.seconds())?),
        _ => {
            let message = "a quantity is divided by a number or by one of its kind, and a size by a \
                           rate or a duration";
            return Err(PyTypeError::new_err(message));
        }
    })
}
