//! Files of every kind that pcapng permits, and some that it does not: their frames are read, and
//! tshark reads the same.
//!
//! Without tshark, the frames are compared with the expected ones only; CI installs it.

use std::path::Path;
use std::process::Command;

use bytes::Bytes;
use skywave_wire::capture::{CaptureError, Flaw, LinkType, Reader};

/// 12 days, 10 hours and some: more than 32 bits of microseconds.
const TICKS: u64 = (0x0000_00fa << 32) + 0x0102_0304;
const DATA: &[u8] = b"a frame of 23 bytes ..\n";

/// Files that tshark reads no further than their flaw.
const TSHARK_ENDS_AT: [&str; 2] = ["options-past-the-end", "a-frame-s-flags-of-a-wrong-length"];

/// The values of a file in one byte order.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

/// Time in nanoseconds, captured and original length.
type Expected = (u64, usize, u32);

struct Case {
    name: &'static str,
    bytes: Vec<u8>,
    frames: Vec<Expected>,
    flaws: Vec<(Flaw, u64)>,
}

impl Order {
    fn u16(self, value: u16) -> Vec<u8> {
        match self.big {
            true => value.to_be_bytes().into(),
            false => value.to_le_bytes().into(),
        }
    }

    fn u32(self, value: u32) -> Vec<u8> {
        match self.big {
            true => value.to_be_bytes().into(),
            false => value.to_le_bytes().into(),
        }
    }

    fn u64(self, value: u64) -> Vec<u8> {
        match self.big {
            true => value.to_be_bytes().into(),
            false => value.to_le_bytes().into(),
        }
    }

    fn block(self, kind: u32, body: &[&[u8]]) -> Vec<u8> {
        let body = padded(&body.concat());
        let length = self.u32(12 + body.len() as u32);
        [self.u32(kind), length.clone(), body, length].concat()
    }

    fn option(self, code: u16, value: &[u8]) -> Vec<u8> {
        [self.u16(code), self.u16(value.len() as u16), padded(value)].concat()
    }

    fn options(self, options: &[(u16, &[u8])]) -> Vec<u8> {
        let options = options
            .iter()
            .flat_map(|(code, value)| self.option(*code, value));
        options.chain([0; 4]).collect()
    }

    fn section(self, options: &[u8]) -> Vec<u8> {
        let magic = self.u32(0x1a2b_3c4d);
        let version = [self.u16(1), self.u16(0)].concat();
        self.block(0x0a0d_0d0a, &[&magic, &version, &[0xff; 8], options])
    }

    fn interface(self, snaplen: u32, options: &[u8]) -> Vec<u8> {
        // A link type for users' own protocols: tshark has nothing to say about the frames.
        let link = [self.u16(147), self.u16(0)].concat();
        self.block(1, &[&link, &self.u32(snaplen), options])
    }

    fn enhanced(self, interface: u32, options: &[u8]) -> Vec<u8> {
        self.enhanced_at(interface, TICKS, DATA, options)
    }

    fn enhanced_at(self, interface: u32, ticks: u64, data: &[u8], options: &[u8]) -> Vec<u8> {
        let time = [self.u32((ticks >> 32) as u32), self.u32(ticks as u32)].concat();
        let lengths = [self.u32(data.len() as u32), self.u32(1500)].concat();
        let interface = self.u32(interface);
        self.block(6, &[&interface, &time, &lengths, &padded(data), options])
    }

    fn simple(self, original_len: u32, data: &[u8]) -> Vec<u8> {
        self.block(3, &[&self.u32(original_len), data])
    }

    fn obsolete(self, options: &[u8]) -> Vec<u8> {
        let time = [self.u32((TICKS >> 32) as u32), self.u32(TICKS as u32)].concat();
        let length = self.u32(DATA.len() as u32);
        let interface = [self.u16(0), self.u16(0xffff)].concat();
        self.block(
            2,
            &[&interface, &time, &length, &length, &padded(DATA), options],
        )
    }

    fn statistics(self, options: &[u8]) -> Vec<u8> {
        self.block(5, &[&[0; 12], options])
    }

    fn names(self, records: &[(u16, &[u8])]) -> Vec<u8> {
        self.block(4, &[&self.options(records)])
    }

    /// A custom block of example.com's, or a block that is not defined.
    fn other(self, kind: u32) -> Vec<u8> {
        self.block(kind, &[&self.u32(32473), b"data"])
    }

    fn cases(self) -> Vec<Case> {
        let (begin, interface) = (self.section(&[]), self.interface(65535, &[]));
        let (frame, statistics) = (self.enhanced(0, &[]), self.statistics(&[]));
        let at = |nanos| (nanos, DATA.len(), 1500);
        let usual = at(TICKS * 1000);
        let case = |name, blocks: &[&[u8]], frames: &[Expected], flaws: &[(Flaw, u64)]| Case {
            name,
            bytes: blocks.concat(),
            frames: frames.into(),
            flaws: flaws.into(),
        };
        let latin1: &[u8] = b"caf\xe9-Netz";
        let clock = |options: &[(u16, &[u8])]| {
            let interface = self.interface(65535, &self.options(options));
            [begin.clone(), interface, frame.clone()].concat()
        };
        let without_end = |code, value| self.option(code, value);
        let past_the_end = [self.u16(1), self.u16(400), b"text".to_vec()].concat();
        let short = self.simple(8, b"8 bytes.");
        let long = self.simple(900, &DATA[..20]);
        let cut = self.interface(20, &[]);
        let hour = self.u64((-3600_i64) as u64);
        let mac: &[u8] = &[2, 0, 0, 0, 0, 1];
        let all_of_a_section =
            self.options(&[(1, b"comment"), (2, b"x86"), (3, b"Linux"), (4, b"ours")]);
        let all_of_an_interface = self.options(&[
            (1, b"comment"),
            (2, b"eth0"),
            (3, b"description"),
            (4, &[192, 0, 2, 1, 255, 255, 255, 0]),
            (5, &[1; 17]),
            (6, mac),
            (7, &[1; 8]),
            (8, &[1; 8]),
            (9, &[6]),
            (10, &[0; 4]),
            (11, b"\0tcp"),
            (12, b"Linux"),
            (13, &[4]),
            (14, &[0; 8]),
            (15, b"card"),
            (16, &[1; 8]),
            (17, &[1; 8]),
            (0x8bad, b"ours"),
        ]);
        let all_of_a_frame = self.options(&[
            (1, b"comment"),
            (1, b"another"),
            (2, &[0; 4]),
            (3, b"\x02hash"),
            (4, &[0; 8]),
            (5, &[0; 8]),
            (6, &[0; 4]),
            (7, b"\x00verdict"),
        ]);
        let counters: Vec<(u16, &[u8])> = (2..=8).map(|code| (code, [0; 8].as_slice())).collect();
        let all_of_statistics = self.options(&counters);
        let names: Vec<(u16, &[u8])> = vec![
            (1, b"\xc0\0\x02\x01host\0"),
            (
                2,
                b"\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\x01host\0other\0",
            ),
            (3, b"\x02\0\0\0\0\x01card\0"),
            (0x7001, b"unknown"),
        ];
        let names = self.names(&names);
        let other = Self { big: !self.big };
        vec![
            case("a-section", &[&begin], &[], &[]),
            case("an-interface", &[&begin, &interface], &[], &[]),
            case(
                "frames",
                &[&begin, &interface, &frame, &frame],
                &[usual; 2],
                &[],
            ),
            case(
                "interfaces",
                &[
                    &begin,
                    &interface,
                    &frame,
                    &cut,
                    &self.enhanced(1, &[]),
                    &frame,
                ],
                &[usual; 3],
                &[],
            ),
            case(
                "simple-frames",
                &[&begin, &cut, &short, &long, &frame],
                &[(0, 8, 8), (0, 20, 900), usual],
                &[],
            ),
            case(
                "an-obsolete-frame",
                &[&begin, &interface, &self.obsolete(&[])],
                &[(TICKS * 1000, DATA.len(), DATA.len() as u32)],
                &[],
            ),
            case(
                "all-options",
                &[
                    &self.section(&all_of_a_section),
                    &self.interface(65535, &all_of_an_interface),
                    &self.enhanced(0, &all_of_a_frame),
                    &self.statistics(&all_of_statistics),
                    &names,
                    &frame,
                ],
                &[usual; 2],
                &[],
            ),
            case(
                "statistics-and-names-between-frames",
                &[
                    &begin,
                    &interface,
                    &statistics,
                    &frame,
                    &names,
                    &frame,
                    &statistics,
                    &frame,
                ],
                &[usual; 3],
                &[],
            ),
            case(
                "unknown-blocks",
                &[
                    &begin,
                    &self.other(0xabcd),
                    &interface,
                    &self.other(0x8000_abcd),
                    &frame,
                ],
                &[usual],
                &[],
            ),
            case(
                "sections",
                &[
                    &begin, &interface, &interface, &frame, &begin, &interface, &frame,
                ],
                &[usual; 2],
                &[],
            ),
            case(
                "a-section-in-the-other-byte-order",
                &[
                    &begin,
                    &interface,
                    &frame,
                    &other.section(&[]),
                    &other.interface(0, &[]),
                    &other.enhanced(0, &[]),
                    &begin,
                    &interface,
                    &frame,
                ],
                &[usual; 3],
                &[],
            ),
            case("microseconds", &[&clock(&[(9, &[6])])], &[usual], &[]),
            case(
                "milliseconds",
                &[&clock(&[(9, &[3])])],
                &[at(TICKS * 1_000_000)],
                &[],
            ),
            case("nanoseconds", &[&clock(&[(9, &[9])])], &[at(TICKS)], &[]),
            case(
                "powers-of-two",
                &[&clock(&[(9, &[0x80 | 20])])],
                &[at(((u128::from(TICKS) * 1_000_000_000) >> 20) as u64)],
                &[],
            ),
            case(
                "a-negative-offset",
                &[&clock(&[(14, &hour)])],
                &[at(TICKS * 1000 - 3_600_000_000_000)],
                &[],
            ),
            // What the format does not permit, or warns of.
            case(
                "no-end-of-options",
                &[
                    &self.section(&without_end(4, b"ours")),
                    &self.interface(65535, &without_end(2, b"eth0")),
                    &self.enhanced(0, &without_end(1, b"text")),
                    &self.statistics(&without_end(2, &[0; 8])),
                    &frame,
                ],
                &[usual; 2],
                &[],
            ),
            case(
                "options-past-the-end",
                &[&begin, &interface, &self.enhanced(0, &past_the_end), &frame],
                &[usual; 2],
                &[(Flaw::PastTheEnd, 1)],
            ),
            case(
                "text-that-is-not-utf-8",
                &[
                    &self.section(&self.options(&[(1, latin1), (2, latin1)])),
                    &self.interface(
                        65535,
                        &self.options(&[(2, latin1), (3, latin1), (12, latin1)]),
                    ),
                    &self.enhanced(0, &self.options(&[(1, latin1)])),
                    &self.names(&[(1, &[b"\xc0\0\x02\x01", latin1, b"\0"].concat())]),
                    &frame,
                ],
                &[usual; 2],
                &[(Flaw::Text, 7)],
            ),
            case(
                "options-of-a-wrong-length",
                &[
                    &begin,
                    &self.interface(
                        65535,
                        &self.options(&[(4, &[1; 4]), (6, &[1]), (8, &[1; 4]), (10, &[1; 3])]),
                    ),
                    &frame,
                    &self.statistics(&self.options(&[(4, &[1; 4])])),
                    &frame,
                ],
                &[usual; 2],
                &[(Flaw::Length, 5)],
            ),
            case(
                "a-frame-s-flags-of-a-wrong-length",
                &[
                    &begin,
                    &interface,
                    &self.enhanced(0, &self.options(&[(2, &[1, 0])])),
                    &frame,
                ],
                &[usual; 2],
                &[(Flaw::Length, 1)],
            ),
            case(
                "a-clock-of-a-wrong-length",
                &[&clock(&[(9, &[]), (14, &[1; 4])])],
                &[usual],
                &[(Flaw::Clock, 2)],
            ),
        ]
    }
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    padded
}

fn cases() -> Vec<Case> {
    [false, true]
        .into_iter()
        .flat_map(|big| Order { big }.cases())
        .collect()
}

#[test]
fn the_frames_of_every_kind_of_file_are_read() {
    for case in cases() {
        let mut reader = Reader::new(case.bytes.into()).unwrap();
        let frames: Vec<_> = reader
            .by_ref()
            .map(|frame| frame.unwrap_or_else(|error| panic!("{}: {error}", case.name)))
            .collect();
        let read: Vec<Expected> = frames
            .iter()
            .map(|frame| (frame.time.as_nanos(), frame.bytes.len(), frame.original_len))
            .collect();
        assert_eq!(read, case.frames, "{}", case.name);
        assert!(frames.iter().all(|frame| frame.link == LinkType(147)));
        let skipped = reader.skipped().iter();
        let flaws: Vec<_> = skipped.map(|parts| (parts.flaw, parts.count)).collect();
        assert_eq!(flaws, case.flaws, "{}", case.name);
    }
}

#[test]
fn tshark_reads_the_same() {
    if !Command::new("tshark")
        .arg("-v")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        return;
    }
    let cases = cases()
        .into_iter()
        .filter(|case| !TSHARK_ENDS_AT.contains(&case.name));
    for (index, case) in cases.enumerate() {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{index}-{}", case.name));
        std::fs::write(&path, &case.bytes).unwrap();
        let mut command = Command::new("tshark");
        command.args(["-n", "-T", "fields", "-e", "frame.time_epoch"]);
        command
            .args(["-e", "frame.cap_len", "-e", "frame.len", "-r"])
            .arg(&path);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let frames: Vec<Expected> = text.lines().map(of_tshark).collect();
        assert_eq!(frames, case.frames, "{}", case.name);
    }
}

/// Reads a line of tshark: seconds and nine decimals, which a frame without a time has not.
fn of_tshark(line: &str) -> Expected {
    let mut columns = line.split('\t');
    let (time, captured, original) = (columns.next(), columns.next(), columns.next());
    let time = time.unwrap().replace('.', "");
    (
        if time.is_empty() {
            0
        } else {
            time.parse().unwrap()
        },
        captured.unwrap().parse().unwrap(),
        original.unwrap().parse().unwrap(),
    )
}

#[test]
fn a_warning_says_what_was_skipped_and_where() {
    let order = Order { big: false };
    let begin = order.section(&[]);
    let interface = order.interface(0, &order.options(&[(6, &[1]), (8, &[1]), (2, b"\xff")]));
    let reader_of = |blocks: &[&[u8]]| {
        let mut reader = Reader::new(blocks.concat().into()).unwrap();
        assert!(reader.by_ref().all(|frame| frame.is_ok()));
        reader
            .skipped()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        reader_of(&[&begin, &interface, &order.enhanced(0, &[])]),
        [
            "skipped 2 options of a wrong length, the first in the block at byte 28; the frames are \
             complete",
            "skipped a text that is not UTF-8, in the block at byte 28; the frames are complete",
        ]
    );
}

#[test]
fn only_what_is_cut_is_truncated() {
    let order = Order { big: true };
    let whole = [
        order.section(&[]),
        order.interface(0, &[]),
        order.enhanced(0, &[]),
    ]
    .concat();
    let last = order.enhanced(0, &[]).len();
    for length in whole.len() - last + 1..whole.len() {
        let mut reader = Reader::new(Bytes::copy_from_slice(&whole[..length])).unwrap();
        let error = reader.next().unwrap().unwrap_err();
        assert!(matches!(error, CaptureError::Truncated { .. }), "{error}");
        assert!(reader.next().is_none());
    }
    // A frame that is longer than its block, which is whole.
    let mut wrong = whole.clone();
    let captured_len = whole.len() - last + 20;
    wrong[captured_len + 2] = 1;
    let error = Reader::new(wrong.into())
        .unwrap()
        .next()
        .unwrap()
        .unwrap_err();
    assert!(matches!(error, CaptureError::Corrupt { .. }), "{error}");
}

#[test]
fn a_link_type_may_say_that_frames_end_with_a_check_sequence() {
    // Four bits of its length, and one that it is there, above the link type.
    for link in [228_u32, 0x4400_0000 | 228, 0x0400_0000 | 228] {
        let header = [0xa1b2_c3d4, 0x0002_0004, 0, 0, 65535, link].map(u32::to_be_bytes);
        let record = [0, 0, 6, 6].map(u32::to_be_bytes);
        let bytes = [&header.concat()[..], &record.concat(), b"packet"].concat();
        let frame = Reader::new(bytes.into()).unwrap().next().unwrap().unwrap();
        assert_eq!(frame.link, LinkType::IPV4, "{link:#x}");
        assert_eq!(frame.bytes, b"packet".as_slice());
    }
}
