//! The settings of a link. Each is a row of one table, which generates the types that have it.
//!
//! A link, the bottleneck of a dumbbell and a reverse direction have the same settings, but each
//! documents them in its own words, which are the descriptions of the JSON Schema. `serde(flatten)`
//! would give all three the same words. It would also name neither the field with an error nor, for
//! an unknown field, the known ones.
//!
//! To add a setting, add a row.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_units::{Duration, Rate};

use crate::{LossSpec, NatSpec, QueueSpec, TraceSpec};

macro_rules! settings {
    (
        required { $(
            $(#[$required_attribute:meta])*
            $required:ident: $Required:ty => $RequiredSeen:ty, $see_required:path {
                $(#[$required_link:meta])* link
                $(#[$required_dumbbell:meta])* dumbbell
                $(#[$required_back:meta])* back
                $(#[$required_direction:meta])* direction
            }
        )* }
        overridden { $(
            $(#[$overridden_attribute:meta])*
            $overridden:ident: $Overridden:ty => $OverriddenSeen:ty, $see_overridden:path {
                $(#[$overridden_link:meta])* link
                $(#[$overridden_dumbbell:meta])* dumbbell
                $(#[$overridden_back:meta])* back
                $(#[$overridden_direction:meta])* direction
            }
        )* }
        separate { $(
            $(#[$separate_attribute:meta])*
            $separate:ident: $Separate:ty => $SeparateSeen:ty, $see_separate:path {
                $(#[$separate_link:meta])* link
                $(#[$separate_dumbbell:meta])* dumbbell
                $(#[$separate_back:meta])* back
                $(#[$separate_direction:meta])* direction
            }
        )* }
        shared { $(
            $(#[$shared_attribute:meta])*
            $shared:ident: $Shared:ty {
                $(#[$shared_link:meta])* link
                $(#[$shared_dumbbell:meta])* dumbbell
                $(#[$shared_direction:meta])* direction
            }
        )* }
    ) => {
        /// A link between two nodes, in both directions unless `one_way`.
        ///
        /// A direction is named after its ends: `r1->r2`. Rate, delay, queue and Quick-Start apply
        /// to both directions; losses, trace, jitter and overtaking only to the forward direction.
        /// `back` overrides the reverse direction.
        #[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
        #[schemars(rename = "Link")]
        #[serde(deny_unknown_fields)]
        pub struct LinkSpec {
            /// The node at which the forward direction starts.
            pub from: String,
            /// The node at which the forward direction ends.
            pub to: String,
            $($(#[$required_attribute])* $(#[$required_link])* pub $required: $Required,)*
            $($(#[$overridden_attribute])* $(#[$overridden_link])* pub $overridden: $Overridden,)*
            $($(#[$separate_attribute])* $(#[$separate_link])* pub $separate: $Separate,)*
            $($(#[$shared_attribute])* $(#[$shared_link])* pub $shared: $Shared,)*
            /// Settings of the reverse direction that differ. Absent: rate, delay, queue and
            /// Quick-Start are those of the forward direction, and there are no losses, trace or
            /// jitter.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub back: Option<BackSpec>,
            /// Whether the link has no reverse direction.
            #[serde(default)]
            pub one_way: bool,
        }

        /// A dumbbell: hosts `s1`.. `sN` behind router `r1`, hosts `d1`.. `dN` behind router `r2`.
        ///
        /// ```text
        ///  s1 ─┐                 ┌─ d1
        ///      r1 ─ bottleneck ─ r2
        ///  s2 ─┘                 └─ d2
        /// ```
        #[derive(Clone, Debug, JsonSchema, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Dumbbell {
            /// The number of hosts on each side, at most 100,000.
            #[schemars(extend("x-unit" = "pairs"))]
            pub pairs: u32,
            $($(#[$required_attribute])* $(#[$required_dumbbell])* pub $required: $Required,)*
            $($(#[$overridden_attribute])* $(#[$overridden_dumbbell])*
            pub $overridden: $Overridden,)*
            $($(#[$separate_attribute])* $(#[$separate_dumbbell])* pub $separate: $Separate,)*
            $($(#[$shared_attribute])* $(#[$shared_dumbbell])* pub $shared: $Shared,)*
            /// Settings of the bottleneck's reverse direction that differ. Absent: rate, delay and
            /// queue are those of the forward direction, and there are no losses, trace or jitter.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub back: Option<BackSpec>,
            /// The rate of the access links. Their queues are unlimited.
            pub access_rate: Rate,
            /// The propagation delays of the access links of pairs 1, 2 and so on, the same on both
            /// sides, at most 24 hours. If there are more pairs than delays, the list repeats.
            pub access_delays: Vec<Duration>,
        }

        /// The reverse direction of a link. Rate, delay and queue default to those of the forward
        /// direction; losses, trace, jitter and overtaking do not.
        #[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
        #[schemars(rename = "Back")]
        #[serde(deny_unknown_fields, default)]
        pub struct BackSpec {
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                $(#[$required_back])*
                pub $required: Option<$Required>,
            )*
            $(
                #[serde(skip_serializing_if = "Option::is_none")]
                $(#[$overridden_back])*
                pub $overridden: Option<$Overridden>,
            )*
            $($(#[$separate_attribute])* $(#[$separate_back])* pub $separate: $Separate,)*
        }

        /// One direction of a link, with the settings that apply to it.
        #[derive(Clone, Copy, Debug)]
        pub struct Direction<'a> {
            /// The node at which it starts.
            pub from: &'a str,
            /// The node at which it ends.
            pub to: &'a str,
            $($(#[$required_direction])* pub $required: $RequiredSeen,)*
            $($(#[$overridden_direction])* pub $overridden: $OverriddenSeen,)*
            $($(#[$separate_direction])* pub $separate: $SeparateSeen,)*
            $($(#[$shared_direction])* pub $shared: $Shared,)*
        }

        impl LinkSpec {
            /// Returns a link in both directions with the default of every setting that has one.
            pub(crate) fn plain(from: String, to: String, $($required: $Required),*) -> Self {
                Self {
                    from,
                    to,
                    $($required,)*
                    $($overridden: Default::default(),)*
                    $($separate: Default::default(),)*
                    $($shared: Default::default(),)*
                    back: None,
                    one_way: false,
                }
            }

            /// Returns the directions, forward first.
            pub fn directions(&self) -> impl Iterator<Item = Direction<'_>> {
                let forward = Direction {
                    from: &self.from,
                    to: &self.to,
                    $($required: $see_required(&self.$required),)*
                    $($overridden: $see_overridden(&self.$overridden),)*
                    $($separate: $see_separate(&self.$separate),)*
                    $($shared: self.$shared,)*
                };
                std::iter::once(forward).chain((!self.one_way).then(|| self.way_back()))
            }

            fn way_back(&self) -> Direction<'_> {
                let back = self.back.as_ref();
                Direction {
                    from: &self.to,
                    to: &self.from,
                    $($required: $see_required(
                        back.and_then(|back| back.$required.as_ref()).unwrap_or(&self.$required),
                    ),)*
                    $($overridden: $see_overridden(
                        back.and_then(|back| back.$overridden.as_ref())
                            .unwrap_or(&self.$overridden),
                    ),)*
                    $($separate: back.map(|back| $see_separate(&back.$separate))
                        .unwrap_or_default(),)*
                    $($shared: self.$shared,)*
                }
            }
        }

        impl Dumbbell {
            /// Returns a dumbbell with the default of every setting that has one.
            pub fn new(
                pairs: u32,
                $($required: $Required,)*
                access_rate: Rate,
                access_delays: Vec<Duration>,
            ) -> Self {
                Self {
                    pairs,
                    $($required,)*
                    $($overridden: Default::default(),)*
                    $($separate: Default::default(),)*
                    $($shared: Default::default(),)*
                    back: None,
                    access_rate,
                    access_delays,
                }
            }

            /// Returns the bottleneck as a link.
            pub(crate) fn bottleneck(&self) -> LinkSpec {
                LinkSpec {
                    from: "r1".to_owned(),
                    to: "r2".to_owned(),
                    $($required: self.$required,)*
                    $($overridden: self.$overridden.clone(),)*
                    $($separate: self.$separate.clone(),)*
                    $($shared: self.$shared,)*
                    back: self.back.clone(),
                    one_way: false,
                }
            }
        }
    };
}

// #[attributes of serde and schemars]
// field: type => type in a direction, how a direction gets it from the field {
//     the documentation of the field, in each of the types
// }
settings! {
    // Both directions have them; `back` overrides them.
    required {
        rate: Rate => Rate, Clone::clone {
            /// The rate of each direction.
            link
            /// The rate of the bottleneck.
            dumbbell
            /// The rate. Absent: as in the forward direction.
            back
            /// Rate.
            direction
        }
        delay: Duration => Duration, Clone::clone {
            /// The propagation delay of each direction, at most 24 hours.
            link
            /// The propagation delay of the bottleneck, at most 24 hours.
            dumbbell
            /// The propagation delay, at most 24 hours. Absent: as in the forward direction.
            back
            /// Propagation delay.
            direction
        }
    }
    // The same, with a default.
    overridden {
        #[serde(default)]
        queue: QueueSpec => &'a QueueSpec, std::convert::identity {
            /// The queue of each direction.
            link
            /// The queue of the bottleneck in each direction.
            dumbbell
            /// The queue. Absent: as in the forward direction.
            back
            /// Queue.
            direction
        }
    }
    // Each direction has its own: the reverse direction that of `back`.
    separate {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        loss: Option<LossSpec> => Option<&'a LossSpec>, Option::as_ref {
            /// The losses of the forward direction, other than by the queue. Absent: none.
            link
            /// The losses of the bottleneck in the forward direction, other than by the queue.
            /// Absent: none.
            dumbbell
            /// The losses other than by the queue. Absent: none.
            back
            /// Losses other than by the queue.
            direction
        }
        #[serde(default, skip_serializing_if = "Option::is_none")]
        trace: Option<TraceSpec> => Option<&'a TraceSpec>, Option::as_ref {
            /// How rate and delay of the forward direction change over time. Before the first step,
            /// `rate` and `delay` apply. Absent: they do not change.
            link
            /// How rate and delay of the bottleneck change over time in the forward direction.
            /// Absent: they do not change.
            dumbbell
            /// How rate and delay change over time. Absent: they do not change.
            back
            /// How rate and delay change over time.
            direction
        }
        #[serde(default)]
        jitter: Duration => Duration, Clone::clone {
            /// Maximum random extra delay of each packet in the forward direction, uniformly
            /// distributed.
            link
            /// Maximum random extra delay of each packet at the bottleneck in the forward
            /// direction, uniformly distributed.
            dumbbell
            /// Maximum random extra delay of each packet, uniformly distributed.
            back
            /// Maximum random extra delay of each packet.
            direction
        }
        #[serde(default)]
        overtaking: bool => bool, Clone::clone {
            /// Whether packets overtake earlier ones where the delay falls, as when a route
            /// changes, and by jitter. Otherwise they arrive behind them, spaced by their
            /// transmission times.
            link
            /// Whether packets overtake earlier ones where the delay falls, as when a route
            /// changes, and by jitter. Otherwise they arrive behind them, spaced by their
            /// transmission times.
            dumbbell
            /// Whether packets overtake earlier ones where the delay falls, as when a route
            /// changes, and by jitter.
            back
            /// Whether packets overtake earlier ones.
            direction
        }
    }
    // Both directions have them; `back` cannot change them.
    shared {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        nat: Option<NatSpec> {
            /// A NAT in front of both directions of the link. Absent: none.
            link
            /// A NAT in front of both directions of the bottleneck. Absent: none.
            dumbbell
            /// The NAT in front of it, which the other direction shares.
            direction
        }
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[schemars(extend("x-unit" = "1"))]
        quick_start: Option<f64> {
            /// The share of each direction's `rate`, above 0 and up to 1, that Quick-Start may give
            /// away (RFC 4782), whatever a trace makes of the rate: a request is approved as long
            /// as the peak use of the last 3 s and the rates approved in them stay below it. A
            /// sender gets a rate only if all links of its route, its own included, take part.
            /// Absent: the link does not take part in Quick-Start.
            link
            /// The share of the rate of each link, above 0 and up to 1, that Quick-Start may give
            /// away (RFC 4782): a request is approved as long as the peak use of the last 3 s and
            /// the rates approved in them stay below it. Absent: no link takes part in Quick-Start.
            dumbbell
            /// The share of the rate that Quick-Start may give away.
            direction
        }
    }
}
