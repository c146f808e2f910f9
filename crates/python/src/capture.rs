//! Reading captures.

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use skywave_wire::capture::Reader;
use skywave_wire::udp;

use crate::CaptureError;

/// Reads a pcapng or pcap file and describes its packets, one dictionary each. UDP carries DCCP at
/// its own port, and at `udp_ports`.
#[pyfunction]
#[pyo3(signature = (data, udp_ports=Vec::new()))]
pub(crate) fn decode_capture<'py>(
    py: Python<'py>,
    data: &[u8],
    mut udp_ports: Vec<u16>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    udp_ports.push(udp::DCCP_PORT);
    let reader = Reader::new(Bytes::copy_from_slice(data)).map_err(capture_error)?;
    reader
        .map(|frame| {
            let frame = frame.map_err(capture_error)?;
            let (protocol, text, wrong_checksum) = match frame.decode(&udp_ports) {
                Ok(decoded) => (
                    decoded.protocol(),
                    decoded.to_string(),
                    decoded.wrong_checksum.is_some(),
                ),
                Err(error) => ("malformed", error.to_string(), false),
            };
            let packet = PyDict::new(py);
            packet.set_item("time_s", frame.time.as_secs_f64())?;
            packet.set_item("protocol", protocol)?;
            packet.set_item("bytes", frame.original_len)?;
            packet.set_item("text", text)?;
            packet.set_item("wrong_checksum", wrong_checksum)?;
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
