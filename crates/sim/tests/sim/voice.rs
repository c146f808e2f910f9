//! Voice over UDP and DCCP: every frame is accounted for.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type};
use arrow_array::{Array, StringArray};
use skywave_sim::{Registry, Results, Scenario};

use crate::support::{counts, run_verified, table};

/// Runs a call of 2000 frames, 80 B every 30 ms for 60 s, with physics and wire verified.
fn call(transport: &str, voice: &str, link: &str) -> Results {
    let text = format!(
        r#"
        name = "call"
        duration = "62 s"
        verify_wire = true
        nodes = ["a", "b"]

        [[links]]
        from = "a"
        to = "b"
        delay = "50 ms"
        {link}

        [[flows]]
        name = "call"
        from = "a"
        to = "b"
        stop = "60 s"
        transport = {transport}
        source = {{ voice = {{ frame = "80 B", interval = "30 ms", header = "0 B", {voice} }} }}
        "#
    );
    run_verified(&text)
}

/// The sum of a column of the table `voice`.
fn total(results: &Results, column: &str) -> u64 {
    counts(table(results, "voice"), column).iter().sum()
}

fn mean(results: &Results, column: &str) -> f64 {
    let column = table(results, "voice").column_by_name(column).unwrap();
    let values: Vec<f64> = column
        .as_primitive::<Float64Type>()
        .iter()
        .flatten()
        .collect();
    values.iter().sum::<f64>() / values.len() as f64
}

const UDP: &str = "{ udp = {} }";
const CCID_3: &str = "{ dccp = { ccid = 3 } }";
const WIDE: &str = "rate = \"1 Mbps\"";
/// Too narrow: with headers, voice over CCID 3 needs 32 kbps.
const NARROW: &str = "rate = \"20 kbps\"\nqueue = { drop-tail = { packets = 10 } }";

#[test]
fn on_an_idle_link_all_is_played_after_the_delay() {
    let results = call(UDP, "", WIDE);
    for column in ["frames", "sent", "played"] {
        assert_eq!(total(&results, column), 2000, "{column}");
    }
    // The propagation delay, plus 108 B at 1 Mbps.
    assert!((mean(&results, "delay_mean_s") - 0.050_864).abs() < 1e-9);
    assert!(mean(&results, "wait_mean_s").abs() < 1e-12);
    // CCID 3 starts with a handshake and a low rate, which delays the first frames.
    let results = call(CCID_3, "", WIDE);
    assert_eq!(total(&results, "frames"), 2000);
    assert!(
        total(&results, "played") > 1900,
        "{}",
        total(&results, "played")
    );
}

#[test]
fn what_comes_after_the_deadline_is_late() {
    for (deadline, late) in [("50.864 ms", 0), ("50.863 ms", 2000)] {
        let results = call(UDP, &format!("deadline = \"{deadline}\""), WIDE);
        assert_eq!(total(&results, "late"), late);
        assert_eq!(total(&results, "played"), 2000 - late);
    }
}

#[test]
fn what_links_lose_is_lost() {
    let lossy = "rate = \"1 Mbps\"\nloss = { bernoulli = { probability = 0.1 } }";
    let results = call(UDP, "frames = 2", lossy);
    let lost = total(&results, "lost");
    // Two frames per packet.
    assert_eq!(lost, 2 * results.summary.links[0].drops);
    assert!((140..=260).contains(&lost), "{lost}");
    assert_eq!(total(&results, "played"), 2000 - lost);
}

/// Each frame is sent, refused by the send queue, or still queued at the end. Each frame sent is
/// lost, late, played, or in flight at the end.
#[test]
fn a_link_that_is_too_narrow_loses_in_every_way() {
    let results = call(
        "{ dccp = { ccid = 3, send_queue = 5 } }",
        "deadline = \"400 ms\"",
        NARROW,
    );
    let [frames, refused, sent, lost, late, played] =
        ["frames", "refused", "sent", "lost", "late", "played"]
            .map(|column| total(&results, column));
    assert_eq!(frames, 2000);
    assert!(refused > 500, "{refused}");
    assert!(late > 0, "{late}");
    assert!(frames - refused - sent <= 5, "{frames} {refused} {sent}");
    assert!(
        sent - lost - late - played <= 11,
        "{sent} {lost} {late} {played}"
    );
    assert_eq!(sent, results.summary.flows[0].packets_sent);
}

/// The link is too narrow for one packet per frame. An adaptive source puts more frames into a
/// packet, which saves headers, and uses smaller frames.
#[test]
fn an_adaptive_source_gets_more_through() {
    let fixed = call(CCID_3, "deadline = \"400 ms\"", NARROW);
    let adaptive = call(
        CCID_3,
        "deadline = \"400 ms\", adapt = { frames = 6, modes = [\"40 B\", \"20 B\"] }",
        NARROW,
    );
    let (fixed, more) = (total(&fixed, "played"), total(&adaptive, "played"));
    assert!(more > 2 * fixed, "{fixed}, {more}");
    assert!(mean(&adaptive, "mode_mean") > 0.5);
    assert_eq!(total(&adaptive, "frames"), 2000);
    // On a wide link it behaves like a fixed source.
    let roomy = call(UDP, "adapt = { frames = 6, modes = [\"40 B\"] }", WIDE);
    assert_eq!(roomy.summary.flows[0].packets_sent, 2000);
    assert!(mean(&roomy, "mode_mean").abs() < 1e-12);
}

/// A tenth of the means of ITU-T P.59, which talks for 1.004 s of every 2.591 s.
#[test]
fn talkspurts_leave_pauses() {
    let talk = "talkspurts = { talk = \"100.4 ms\", pause = \"158.7 ms\" }";
    let results = call(UDP, talk, WIDE);
    let frames = total(&results, "frames");
    assert!((640..=910).contains(&frames), "{frames}");
    assert_eq!(total(&results, "played"), frames);
}

#[test]
fn errors_name_their_field() {
    let text = |transport: &str, voice: &str| {
        format!(
            r#"
            name = "call"
            duration = "1 s"
            dumbbell = {{ pairs = 1, rate = "1 Mbps", delay = "1 ms", access_rate = "1 Mbps", access_delays = ["1 ms"] }}
            flows = [{{ name = "call", from = "s1", to = "d1", transport = {transport}, source = {{ voice = {{ {voice} }} }} }}]
            "#
        )
    };
    for (transport, voice, error) in [
        (
            "{ tcp = {} }",
            "frame = \"80 B\", interval = \"30 ms\"",
            "flows[0].source: voice needs datagrams",
        ),
        (
            UDP,
            "frame = \"8 B\", interval = \"30 ms\", header = \"0 B\"",
            "flows[0].source.voice.frame: a datagram of 8 B",
        ),
        (
            UDP,
            "frame = \"80 B\", interval = \"0 s\"",
            "flows[0].source.voice.interval: 0 s",
        ),
        (
            UDP,
            "frame = \"80 B\", interval = \"30 ms\", frames = 0",
            "flows[0].source.voice.frames: 0 frames",
        ),
        (
            UDP,
            "frame = \"60 kB\", interval = \"30 ms\", frames = 2",
            "flows[0].source.voice.frame: 120012 B do not fit",
        ),
        (
            UDP,
            "frame = \"80 B\", interval = \"30 ms\", frames = 2, adapt = { frames = 1 }",
            "flows[0].source.voice.adapt.frames: 1 frames are fewer",
        ),
        (
            UDP,
            "frame = \"80 B\", interval = \"30 ms\", adapt = { frames = 2, modes = [\"90 B\"] }",
            "flows[0].source.voice.adapt.modes[0]: 90 B is not below 80 B",
        ),
        (
            UDP,
            "frame = \"80 B\", interval = \"30 ms\", talkspurts = { talk = \"0 s\" }",
            "flows[0].source.voice.talkspurts.talk: 0 s",
        ),
    ] {
        let message = Scenario::from_toml(&text(transport, voice), &Registry::default())
            .unwrap_err()
            .to_string();
        assert!(message.starts_with(error), "{message}");
    }
}

#[test]
fn a_call_says_its_codec_and_its_delay_from_mouth_to_ear() {
    for codec in ["g711", "g729a", "g723.1"] {
        let results = call(
            UDP,
            &format!("deadline = \"200 ms\", codec = \"{codec}\""),
            WIDE,
        );
        let column = table(&results, "voice").column_by_name("codec").unwrap();
        let names = column
            .as_dictionary::<Int32Type>()
            .downcast_dict::<StringArray>();
        assert!(names.unwrap().into_iter().all(|name| name == Some(codec)));
        assert!((mean(&results, "mouth_to_ear_s") - 0.23).abs() < 1e-12);
    }
    let results = call(UDP, "deadline = \"200 ms\"", WIDE);
    let column = table(&results, "voice").column_by_name("codec").unwrap();
    assert_eq!(column.null_count(), column.len());
}
