//! Voice: a source that talks, and a receiver that plays the speech.

mod stamp;
mod talker;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::{Bytes, Duration};

pub use self::stamp::Stamp;
use self::talker::Talker;
use crate::check::{check_above_zero, check_datagram};
use crate::{Carrier, CheckedSource, Codec, Playout, Setup, Source, SourceKind};

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
    /// The playout delay: a frame is played this long after it was made, and not at all if it
    /// arrives later. (ITU-T G.114: one-way delays above 400 ms are unacceptable for planning.)
    #[serde(default = "g114_limit")]
    pub deadline: Duration,
    /// The codec, by which the E-model rates the call. It does not change what is sent. Absent: the
    /// call has no rating.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<Codec>,
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

/// How a source adapts: while a datagram waits in the transport, it collects frames; when none
/// waits, it hands over the collected frames as the next datagram. The transport's rate thus
/// determines the number of frames per datagram.
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
    Bytes::new(Stamp::SIZE)
}

const fn g114_limit() -> Duration {
    Duration::from_millis(400)
}

impl VoiceSpec {
    /// Returns the most frames per datagram.
    fn most_frames(&self) -> u16 {
        self.adapt
            .as_ref()
            .map_or(self.frames, |adapt| adapt.frames)
    }

    /// Returns the size of the largest datagram, in bytes.
    fn largest_datagram(&self) -> u64 {
        self.header
            .get()
            .saturating_add(self.frame.get().saturating_mul(self.most_frames().into()))
    }

    pub(crate) fn kind(self) -> CheckedSource {
        check_above_zero(self.interval, "interval")?;
        check_frames(self.frames, "frames")?;
        check_datagram(self.largest_datagram(), "frame")?;
        self.check_smallest(self.frame, "frame")?;
        if let Some(spurts) = &self.talkspurts {
            check_above_zero(spurts.talk, "talkspurts.talk")?;
        }
        if let Some(adapt) = &self.adapt {
            self.check_adaptation(adapt)
                .map_err(|error| error.within("adapt"))?;
        }
        Ok(Arc::new(self))
    }

    /// Checks that a datagram with frames of this size describes them.
    fn check_smallest(&self, frame: Bytes, field: &str) -> Result<(), ParameterError> {
        let datagram = self.header.get() + frame.get() * u64::from(self.frames);
        let describes = frame.get() > 0 && datagram >= Stamp::SIZE;
        ParameterError::unless(describes, field, || {
            let least = Stamp::SIZE;
            format!("a datagram of {datagram} B: at least one byte a frame and {least} B in all")
        })
    }

    fn check_adaptation(&self, adapt: &AdaptSpec) -> Result<(), ParameterError> {
        check_frames(adapt.frames, "frames")?;
        ParameterError::unless(adapt.frames >= self.frames, "frames", || {
            format!("{} frames are fewer than {}", adapt.frames, self.frames)
        })?;
        let mut above = self.frame;
        for (index, &mode) in adapt.modes.iter().enumerate() {
            let field = format!("modes[{index}]");
            ParameterError::unless(mode < above, &field, || {
                format!("{mode} is not below {above}, the mode ahead of it")
            })?;
            self.check_smallest(mode, &field)?;
            above = mode;
        }
        Ok(())
    }
}

fn check_frames(frames: u16, field: &str) -> Result<(), ParameterError> {
    ParameterError::unless((1..=MOST_FRAMES).contains(&frames), field, || {
        format!("{frames} frames: between 1 and {MOST_FRAMES}")
    })
}

impl SourceKind for VoiceSpec {
    fn datagram(&self) -> u64 {
        self.largest_datagram()
    }

    fn check_carrier(&self, carrier: Carrier) -> Result<(), &'static str> {
        match carrier {
            Carrier::Datagrams | Carrier::BareDatagrams => Ok(()),
            Carrier::Stream => Err("voice needs datagrams: use udp or dccp"),
        }
    }

    fn playout(&self) -> Option<Playout> {
        Some(Playout {
            frame: self.interval,
            deadline: self.deadline,
            codec: self.codec,
        })
    }

    fn build(&self, setup: &Setup<'_>) -> Box<dyn Source> {
        Box::new(Talker::new(self, setup))
    }
}
