//! Reading captures.

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skywave_wire::capture::{DecodeError, Frame, LinkError, Reader};
use skywave_wire::udp;

use crate::CaptureError;

/// Reads a pcapng or pcap file and describes its packets, one dictionary each. UDP carries DCCP at
/// its own port, and at `udp_ports`.
#[pyfunction]
#[pyo3(signature = (data, udp_ports=Vec::new()))]
pub(crate) fn decode_capture(data: &[u8], mut udp_ports: Vec<u16>) -> PyResult<Frames> {
    udp_ports.push(udp::DCCP_PORT);
    let reader = Reader::new(Bytes::copy_from_slice(data)).map_err(capture_error)?;
    Ok(Frames { reader, udp_ports })
}

/// The frames of a capture. The iterator raises a `CaptureError` at the first fault.
#[pyclass(module = "skywave._core")]
pub(crate) struct Frames {
    reader: Reader,
    udp_ports: Vec<u16>,
}

#[pymethods]
impl Frames {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(frame) = self.reader.next() else {
            return Ok(None);
        };
        describe(py, &frame.map_err(capture_error)?, &self.udp_ports).map(Some)
    }

    /// What was skipped so far although no frame was lost, a warning for each kind of flaw.
    #[getter]
    fn skipped(&self) -> Vec<String> {
        let parts = self.reader.skipped().iter();
        parts.map(ToString::to_string).collect()
    }
}

fn describe<'py>(
    py: Python<'py>,
    frame: &Frame,
    udp_ports: &[u16],
) -> PyResult<Bound<'py, PyDict>> {
    let (protocol, text, wrong_checksum) = match frame.decode(udp_ports) {
        Ok(decoded) => (
            decoded.protocol().to_owned(),
            decoded.to_string(),
            decoded.wrong_checksum.map(|error| error.to_string()),
        ),
        Err(DecodeError::Link(LinkError::NotIp { protocol, .. })) => {
            (protocol.to_string(), "not decoded".to_owned(), None)
        }
        Err(DecodeError::Link(LinkError::UnknownLink(link))) => (
            format!("link type {}", link.0),
            "not decoded".to_owned(),
            None,
        ),
        Err(error) => ("malformed".to_owned(), error.to_string(), None),
    };
    let packet = PyDict::new(py);
    packet.set_item("time_s", frame.time.as_secs_f64())?;
    packet.set_item("protocol", protocol)?;
    packet.set_item("bytes", frame.original_len)?;
    packet.set_item("text", text)?;
    packet.set_item("wrong_checksum", wrong_checksum)?;
    Ok(packet)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "the shape that map_err asks for"
)]
fn capture_error(error: skywave_wire::capture::CaptureError) -> PyErr {
    CaptureError::new_err(error.to_string())
}
