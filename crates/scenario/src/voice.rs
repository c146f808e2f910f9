//! Voice: a source that talks and a receiver that plays out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Bytes, Duration};

use crate::ScenarioError;
use crate::check::{check, check_datagram, check_timer};

/// Bytes of what a datagram says of its frames, in the place of RTP's header (RFC 3550 section 5.1).
pub const STAMP: u64 = 12;

/// Frames that one datagram may hold.
const MOST_FRAMES: u16 = 100;

/// Parameters of a voice call, one way: a codec makes a frame of so many bytes every `interval`, and
/// the receiver plays what arrives in time.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Voice")]
#[serde(deny_unknown_fields)]
pub struct VoiceSpec {
    /// Bytes of a coded frame.
    pub frame: Bytes,
    /// How much speech a frame holds, and so how often there is one.
    pub interval: Duration,
    /// Frames in a datagram.
    #[schemars(extend("x-unit" = "frames"))]
    #[serde(default = "one_frame")]
    pub frames: u16,
    /// Bytes of each datagram before its frames: RTP's header. A datagram needs 12 bytes in all to
    /// say what is in it.
    #[serde(default = "rtp_header")]
    pub header: Bytes,
    /// How long after it was made a frame is played; what comes later is lost (ITU-T G.114: one-way
    /// delays above 400 ms are unacceptable for planning).
    #[serde(default = "g114_limit")]
    pub deadline: Duration,
    /// Talk and pause in turn; talks without a pause where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub talkspurts: Option<TalkspurtSpec>,
    /// Adapts to what the transport takes; sends as ever where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapt: Option<AdaptSpec>,
}

/// Lengths of talkspurts and pauses, exponentially distributed.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Talkspurts")]
#[serde(deny_unknown_fields, default)]
pub struct TalkspurtSpec {
    /// Mean length of a talkspurt.
    pub talk: Duration,
    /// Mean length of a pause.
    pub pause: Duration,
}

/// ITU-T P.59 table 1, from memory: means over languages of talkspurts and pauses in conversational
/// speech. A VoIP module of ns-2 (`VoipBidirectionalItuP59`) has the 1.004 s; for the 1.587 s no source
/// has been found that agrees.
impl Default for TalkspurtSpec {
    fn default() -> Self {
        Self {
            talk: Duration::from_millis(1004),
            pause: Duration::from_millis(1587),
        }
    }
}

/// How a source adapts: it hands the transport a datagram only when none waits there any more, and
/// gathers frames until then. So the transport's rate decides how many frames share a datagram.
#[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "Adapt")]
#[serde(deny_unknown_fields)]
pub struct AdaptSpec {
    /// Frames that may share a datagram. When more have been gathered, the oldest is given up.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames: u16,
    /// Bytes of a frame in each lower mode of the codec, the best first. The source goes down one
    /// when the transport makes it wait, and up again when it has not for a while.
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
    /// Frames that may share a datagram.
    pub fn most_frames(&self) -> u16 {
        self.adapt
            .as_ref()
            .map_or(self.frames, |adapt| adapt.frames)
    }

    /// Bytes of the largest datagram.
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
