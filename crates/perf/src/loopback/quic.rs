//! quinn's datagrams.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::sync::mpsc;
use std::time::Instant;

use quinn::rustls::RootCertStore;
use quinn::rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use quinn::{ClientConfig, Connection, Endpoint, ServerConfig, TransportConfig, VarInt};

use super::ends::{Ends, PING, PingPong, Run, Stream, datagram, on_thread};
use super::report::Options;
use crate::PerfError;

/// Fits a datagram of 1200 bytes from the first packet on; otherwise quinn would have to discover
/// the MTU.
const MTU: u16 = 1400;
/// The idle timeout in milliseconds. QUIC announces the end of a connection once (RFC 9000, section
/// 10.2), which a full receive buffer may lose; the other end then relies on this timeout.
const SILENCE: VarInt = VarInt::from_u32(1000);

fn failed(error: impl ToString) -> PerfError {
    PerfError::Quinn(error.to_string())
}

fn transport() -> Arc<TransportConfig> {
    let mut transport = TransportConfig::default();
    transport.initial_mtu(MTU);
    transport.max_idle_timeout(Some(SILENCE.into()));
    Arc::new(transport)
}

fn server_config(
    certificate: CertificateDer<'static>,
    key: PrivatePkcs8KeyDer<'static>,
) -> Result<ServerConfig, PerfError> {
    let mut config =
        ServerConfig::with_single_cert(vec![certificate], key.into()).map_err(failed)?;
    config.transport_config(transport());
    Ok(config)
}

fn client_config(certificate: CertificateDer<'static>) -> Result<ClientConfig, PerfError> {
    let mut roots = RootCertStore::empty();
    roots.add(certificate).map_err(failed)?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots)).map_err(failed)?;
    config.transport_config(transport());
    Ok(config)
}

/// Starts each end of a connection on its own thread.
fn start<T, S, C>(
    serve: impl FnOnce(Connection) -> S + Send + 'static,
    call: impl FnOnce(Connection) -> C + Send + 'static,
) -> Result<Ends<T>, PerfError>
where
    T: Send + 'static,
    S: Future<Output = Result<(), PerfError>> + Send,
    C: Future<Output = Result<T, PerfError>> + Send,
{
    let identity = rcgen::generate_simple_self_signed(vec!["localhost".into()]).map_err(failed)?;
    let certificate = identity.cert.der().clone();
    let key = PrivatePkcs8KeyDer::from(identity.signing_key.serialize_der());
    let server = server_config(certificate.clone(), key)?;
    let client = client_config(certificate)?;
    let (announce, announced) = mpsc::channel();
    let server = on_thread(move || async move {
        let endpoint = Endpoint::server(server, (Ipv4Addr::LOCALHOST, 0).into())?;
        let _ = announce.send(endpoint.local_addr()?);
        let incoming = endpoint.accept().await.ok_or(PerfError::Stopped)?;
        serve(incoming.await.map_err(failed)?).await?;
        endpoint.wait_idle().await;
        Ok(())
    });
    let client = on_thread(move || async move {
        let address = announced.recv().map_err(|_| PerfError::Stopped)?;
        let endpoint = Endpoint::client((Ipv4Addr::LOCALHOST, 0).into())?;
        let connecting = endpoint
            .connect_with(client, address, "localhost")
            .map_err(failed)?;
        let connection = connecting.await.map_err(failed)?;
        let answer = call(connection.clone()).await?;
        connection.close(0u8.into(), b"");
        endpoint.wait_idle().await;
        Ok(answer)
    });
    Ok(Ends { server, client })
}

pub(super) fn stream(options: &Options) -> Result<Stream, PerfError> {
    let run = Run::default();
    let (counting, sending) = (run.clone(), run.clone());
    let size = options.datagram;
    let ends = start(
        |connection| async move {
            while connection.read_datagram().await.is_ok() {
                counting.count(1);
            }
            Ok(())
        },
        move |connection| async move {
            while !sending.is_over() {
                let sent = connection.send_datagram_wait(datagram(size)).await;
                sent.map_err(failed)?;
            }
            Ok(())
        },
    )?;
    let stream = run.measure(options, || ends.has_stopped());
    ends.join()?;
    stream
}

pub(super) fn ping_pong(options: &Options) -> Result<PingPong, PerfError> {
    let pings = options.pings;
    let ends = start(
        |connection| async move {
            while let Ok(datagram) = connection.read_datagram().await {
                connection.send_datagram(datagram).map_err(failed)?;
            }
            Ok(())
        },
        move |connection| async move {
            let data = datagram(PING);
            let mut times = Vec::with_capacity(pings);
            for _ in 0..pings {
                let start = Instant::now();
                connection.send_datagram(data.clone()).map_err(failed)?;
                connection.read_datagram().await.map_err(failed)?;
                times.push(start.elapsed());
            }
            Ok(times)
        },
    )?;
    Ok(PingPong::of(&ends.join()?))
}
