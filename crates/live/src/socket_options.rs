//! What the kernel reports about sockets, and options that the standard libraries lack.
#![allow(unsafe_code)]

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd};

use skywave_sim::{EndStats, RateStats};
use skywave_units::{Duration, Rate};

/// From this value on, ssthresh means none (`TCP_INFINITE_SSTHRESH`).
const INFINITE: u32 = 0x7fff_ffff;

/// The place of `SK_MEMINFO_DROPS` in the answer to `SO_MEMINFO` (`linux/sock_diag.h`).
const DROPS: usize = 8;

/// The level of DCCP's options (`linux/socket.h`), and the options (`linux/dccp.h`).
const SOL_DCCP: i32 = 269;
const DCCP_SOCKOPT_CCID: i32 = 13;
const DCCP_SOCKOPT_QPOLICY_TXQLEN: i32 = 17;
const DCCP_SOCKOPT_CCID_TX_INFO: i32 = 192;

/// The kernel counts CCID 3's rates in 64ths of bytes per second.
const RATE_SCALE: u64 = 64;

/// CCID 3's loss event rate, in the kernel, is a number of millionths.
const P_SCALE: f64 = 1e6;

/// The state of CCID 3's sender, as the kernel reports it (`linux/tfrc.h`).
#[repr(C)]
struct TfrcTxInfo {
    x: u64,
    x_recv: u64,
    x_calc: u32,
    rtt: u32,
    p: u32,
    rto: u32,
    ipi: u32,
}

/// Selects the CCID of both directions, before the connection is opened.
pub(crate) fn set_ccid(socket: BorrowedFd<'_>, ccid: u8) -> io::Result<()> {
    set(socket, DCCP_SOCKOPT_CCID, &[ccid])
}

/// Sets the number of datagrams that can wait in the sender.
pub(crate) fn set_send_queue(socket: BorrowedFd<'_>, datagrams: u32) -> io::Result<()> {
    set(
        socket,
        DCCP_SOCKOPT_QPOLICY_TXQLEN,
        &datagrams.to_ne_bytes(),
    )
}

/// Sets one of DCCP's options.
fn set(socket: BorrowedFd<'_>, name: i32, value: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads no more than the length, which is the value's.
    let answer = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            SOL_DCCP,
            name,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Returns what the kernel reports about a sender under CCID 3: its rates and the smoothed round-trip
/// time.
pub(crate) fn rate_of_sender(
    socket: BorrowedFd<'_>,
) -> io::Result<(Option<RateStats>, Option<Duration>)> {
    // SAFETY: the option's type is tfrc_tx_info, of which zero is a valid value of every field.
    let info: TfrcTxInfo = match unsafe { option(socket, SOL_DCCP, DCCP_SOCKOPT_CCID_TX_INFO) } {
        Ok(info) => info,
        // It has not agreed on a CCID yet.
        Err(error) if error.raw_os_error() == Some(libc::ENOPROTOOPT) => return Ok((None, None)),
        Err(error) => return Err(error),
    };
    let rate = |scaled: u64| Rate::from_bps(8 * (scaled / RATE_SCALE));
    let mut stats = RateStats::default();
    stats.rate = rate(info.x);
    stats.allowed_rate = rate(info.x);
    stats.receive_rate = rate(info.x_recv);
    stats.loss_event_rate = f64::from(info.p) / P_SCALE;
    let srtt = (info.rtt > 0).then(|| Duration::from_micros(info.rtt.into()));
    Ok((Some(stats), srtt))
}

/// Returns what the kernel reports about a connection through `TCP_INFO`.
pub(crate) fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<libc::tcp_info> {
    // SAFETY: the option's type is tcp_info, of which zero is a valid value of every field.
    unsafe { option(socket, libc::IPPROTO_TCP, libc::TCP_INFO) }
}

/// Returns how many packets a socket has lost since it was opened because it was full.
pub(crate) fn dropped_packets(socket: BorrowedFd<'_>) -> io::Result<u64> {
    // SAFETY: the option's type is an array of u32.
    let values: [u32; DROPS + 1] = unsafe { option(socket, libc::SOL_SOCKET, libc::SO_MEMINFO) }?;
    Ok(u64::from(values[DROPS]))
}

/// Returns an option's value. An older kernel knows only the first part of it and leaves the rest
/// zero.
///
/// # Safety
/// `T` is the option's type or begins it, and zero is a valid value of every field.
unsafe fn option<T>(socket: BorrowedFd<'_>, level: i32, name: i32) -> io::Result<T> {
    // SAFETY: the caller says that zero is valid.
    let mut value: T = unsafe { mem::zeroed() };
    let mut length = size_of_val(&value) as libc::socklen_t;
    // SAFETY: the kernel writes no more than the length, which is the value's.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            level,
            name,
            (&raw mut value).cast(),
            &raw mut length,
        )
    };
    if answer < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(value)
}

/// Returns the state of a sender.
pub(crate) fn of_sender(info: &libc::tcp_info) -> EndStats {
    let micros = |micros: u64| Duration::from_micros(micros);
    let in_flight = info.tcpi_unacked + info.tcpi_retrans;
    let mut stats = EndStats::default();
    stats.packets_sent = u64::from(info.tcpi_data_segs_out);
    stats.bytes_sent = info.tcpi_bytes_sent;
    stats.retransmissions = u64::from(info.tcpi_total_retrans);
    // Since Linux 6.7. The bindings for musl do not have it.
    #[cfg(target_env = "gnu")]
    {
        stats.timeouts = info.tcpi_total_rto.into();
    }
    stats.receive_window_limited = micros(info.tcpi_rwnd_limited);
    stats.cwnd = f64::from(info.tcpi_snd_cwnd);
    stats.ssthresh = match info.tcpi_snd_ssthresh {
        INFINITE.. => f64::INFINITY,
        segments => f64::from(segments),
    };
    stats.pipe = in_flight.saturating_sub(info.tcpi_sacked + info.tcpi_lost);
    stats.srtt = (info.tcpi_rtt > 0).then(|| micros(info.tcpi_rtt.into()));
    stats.is_idle = info.tcpi_unacked == 0 && info.tcpi_notsent_bytes == 0;
    stats
}
