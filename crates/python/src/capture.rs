//! Reading captures.

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skywave_wire::capture::Reader;

use crate::CaptureError;

/// Reads a pcapng or pcap file and describes its packets, one dictionary each.
#[pyfunction]
pub(crate) fn decode_capture<'py>(
    py: Python<'py>,
    data: &[u8],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let reader = Reader::new(Bytes::copy_from_slice(data)).map_err(capture_error)?;
    reader
        .map(|frame| {
            let frame = frame.map_err(capture_error)?;
            let (protocol, text) = match frame.decode() {
                Ok(decoded) => (decoded.protocol(), decoded.to_string()),
                Err(error) => ("malformed", error.to_string()),
            };
            let packet = PyDict::new(py);
            packet.set_item("time_s", frame.time.as_secs_f64())?;
            packet.set_item("protocol", protocol)?;
            packet.set_item("bytes", frame.original_len)?;
            packet.set_item("text", text)?;
            Ok(packet)
        })
        .collect()
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err asks for"
)]
fn capture_error(error: skywave_wire::capture::CaptureError) -> PyErr {
    CaptureError::new_err(error.to_string())
}
