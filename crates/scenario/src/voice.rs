//! Voice: a source that talks and a receiver that plays the speech.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Duration};

use crate::ScenarioError;
use crate::check::{check, check_datagram, check_timer};

/// The bytes with which a datagram describes its frames, in place of RTP's header (RFC 3550 section
/// 5.1).
pub const STAMP: u64 = 12;

/// The most frames per datagram.
const MOST_FRAMES: u16 = 100;

/// A one-way voice call. A codec makes a frame of `frame` bytes every `interval`, and the receiver
/// plays the frames that arrive in time.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Voice")]
#[serde(deny_unknown_fields)]
pub struct VoiceSpec {
    /// The size of a coded frame.
    pub frame: Bytes,
    /// The duration of speech in a frame, and so the interval between frames.
    pub interval: Duration,
    /// The number of frames per datagram, from 1 to 100.
    #[schemars(extend("x-unit" = "frames"))]
    #[serde(default = "one_frame")]
    pub frames: u16,
    /// The bytes of each datagram before its frames: RTP's header. A datagram needs at least 12
    /// bytes in all to describe its content.
    #[serde(default = "rtp_header")]
    pub header: Bytes,
    /// How long after it was made a frame is played. Frames that arrive later are lost (ITU-T
    /// G.114: one-way delays above 400 ms are unacceptable for planning).
    #[serde(default = "g114_limit")]
    pub deadline: Duration,
    /// Alternating talkspurts and pauses. Absent: talks without pauses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talkspurts: Option<TalkspurtSpec>,
    /// How the source adapts to the transport. Absent: it does not adapt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapt: Option<AdaptSpec>,
}

/// The lengths of talkspurts and pauses, exponentially distributed.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Talkspurts")]
#[serde(deny_unknown_fields, default)]
pub struct TalkspurtSpec {
    /// The mean length of a talkspurt.
    pub talk: Duration,
    /// The mean length of a pause.
    pub pause: Duration,
}

/// ITU-T P.59 table 1, from memory: means over languages for conversational speech. A VoIP module
/// of ns-2 (`VoipBidirectionalItuP59`) also uses 1.004 s; no source has been found that confirms
/// 1.587 s.
impl Default for TalkspurtSpec {
    fn default() -> Self {
        Self {
            talk: Duration::from_millis(1004),
            pause: Duration::from_millis(1587),
        }
    }
}

/// How a source adapts: it collects frames while a datagram waits in the transport, and hands over
/// the next one when none does. The transport's rate thus determines the number of frames per
/// datagram.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Adapt")]
#[serde(deny_unknown_fields)]
pub struct AdaptSpec {
    /// The most frames per datagram, up to 100. Beyond that the oldest collected frame is
    /// discarded.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames: u16,
    /// The frame sizes of the codec's lower modes, in descending order. The source switches to the
    /// next lower mode when the transport makes it wait, at most once per second, and back to the
    /// next higher one after 5 s without waiting.
    #[serde(default)]
    pub modes: Vec<Bytes>,
}

const fn one_frame() -> u16 {
    1
}

const fn rtp_header() -> Bytes {
    Bytes::new(STAMP)
}

const fn g114_limit() -> Duration {
    Duration::from_millis(400)
}

impl VoiceSpec {
    /// Returns the most frames per datagram.
    pub fn most_frames(&self) -> u16 {
        self.adapt
            .as_ref()
            .map_or(self.frames, |adapt| adapt.frames)
    }

    /// Returns the size of the largest datagram, in bytes.
    pub fn largest_datagram(&self) -> u64 {
        self.header
            .get()
            .saturating_add(self.frame.get().saturating_mul(self.most_frames().into()))
    }

    pub(crate) fn validate(&self, field: &str) -> Result<(), ScenarioError> {
        check_timer(Some(self.interval), &format!("{field}.interval"))?;
        check_frames(self.frames, &format!("{field}.frames"))?;
        check_datagram(self.largest_datagram(), &format!("{field}.frame"))?;
        let smallest = |frame: &Bytes| {
            let datagram = self.header.get() + frame.get() * u64::from(self.frames);
            (frame.get() > 0 && datagram >= STAMP)
                .then_some(())
                .ok_or(format!(
                    "a datagram of {datagram} B: at least one byte a frame and {} B in all",
                    STAMP
                ))
        };
        smallest(&self.frame)
            .map_err(|message| ScenarioError::new(format!("{field}.frame"), message))?;
        if let Some(spurts) = &self.talkspurts {
            check_timer(Some(spurts.talk), &format!("{field}.talkspurts.talk"))?;
        }
        let Some(adapt) = &self.adapt else {
            return Ok(());
        };
        let field = format!("{field}.adapt");
        check_frames(adapt.frames, &format!("{field}.frames"))?;
        check(
            adapt.frames >= self.frames,
            &format!("{field}.frames"),
            || format!("{} frames are fewer than {}", adapt.frames, self.frames),
        )?;
        let mut above = self.frame;
        for (index, mode) in adapt.modes.iter().enumerate() {
            let field = format!("{field}.modes[{index}]");
            check(*mode < above, &field, || {
                format!("{mode} is not below {above}, the mode ahead of it")
            })?;
            smallest(mode).map_err(|message| ScenarioError::new(field, message))?;
            above = *mode;
        }
        Ok(())
    }
}

fn check_frames(frames: u16, field: &str) -> Result<(), ScenarioError> {
    check((1..=MOST_FRAMES).contains(&frames), field, || {
        format!("{frames} frames: between 1 and {MOST_FRAMES}")
    })
}
