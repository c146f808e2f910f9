//! Parameters of queues of the kernel.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skywave_registry::ParameterError;
use skywave_units::Bytes;

use super::{
    AnyQueue, Checked, Conduct, Discipline, DropTail, Head, Limit, QueueKind, QueueSpec, Queues,
};
use crate::Packet;

/// A queue of the Linux kernel, for runs in real time and on virtual time.
///
/// Drops of packets that it had accepted are known, and counted, when the next packet of their flow
/// leaves; until then, the packets count as waiting. It must not reorder packets of a flow.
#[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
#[schemars(rename = "KernelQueue")]
#[serde(
    deny_unknown_fields,
    expecting = "a table, such as { qdisc = \"fq_codel limit 1000\" }"
)]
pub struct KernelQueueSpec {
    /// The queueing discipline with its options, in the words of `tc`: `codel limit 100`.
    pub qdisc: String,
    /// The longest packet that it takes. Some disciplines derive defaults from it.
    #[serde(default = "mtu")]
    pub mtu: Bytes,
    /// The queue that a simulation runs in its place. Absent: the scenario cannot be simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<QueueSpec>,
}

/// Returns Ethernet's MTU.
const fn mtu() -> Bytes {
    Bytes::new(1500)
}

/// The MTUs that a device may have: IPv4's least, and the most.
const MTUS: core::ops::RangeInclusive<u64> = 68..=65_535;

/// The name of this discipline.
pub(super) const KERNEL: &str = "kernel";

impl KernelQueueSpec {
    /// Reads the queue that is simulated and completes its parameters.
    pub(super) fn kind<P: Packet + Send + 'static>(&mut self, known: &Queues<P>) -> Checked<P> {
        let words = self.qdisc.split_whitespace();
        let is_name = |word: &str| word.starts_with(|first: char| first.is_ascii_alphabetic());
        let is_qdisc = words.clone().next().is_some_and(is_name);
        ParameterError::unless(is_qdisc, "qdisc", || {
            format!(
                "\"{}\": give a discipline of tc and its options",
                self.qdisc
            )
        })?;
        let name = words.clone().next().unwrap_or_default();
        ParameterError::unless(!name.contains('-'), "qdisc", || {
            format!(
                "\"{name}\": tc has no such discipline; its names have underscores, as in fq_codel"
            )
        })?;
        ParameterError::unless(MTUS.contains(&self.mtu.get()), "mtu", || {
            format!("{}: give {} to {} B", self.mtu, MTUS.start(), MTUS.end())
        })?;
        let discipline = Discipline {
            words: words.map(str::to_owned).collect(),
            mtu: self.mtu.get() as u32,
        };
        let simulated = match &mut self.simulated {
            Some(queue) if queue.name() == KERNEL => {
                let message = "it stands for the kernel's: name a queue of ours";
                return Err(ParameterError::new("simulated", message));
            }
            Some(queue) => {
                let kind = queue.complete(known);
                Some(kind.map_err(|error| error.within("simulated"))?)
            }
            None => None,
        };
        Ok(Arc::new(Kind {
            discipline,
            simulated,
        }))
    }
}

struct Kind<P> {
    discipline: Discipline,
    simulated: Option<Arc<dyn QueueKind<P>>>,
}

impl<P: Packet + Send + 'static> QueueKind<P> for Kind<P> {
    fn conduct(&self) -> Conduct {
        match &self.simulated {
            Some(kind) => kind.conduct(),
            None => Conduct::fifo(Limit::Unlimited),
        }
    }

    fn conduct_for(&self, class: u8) -> Conduct {
        match &self.simulated {
            Some(kind) => kind.conduct_for(class),
            None => self.conduct(),
        }
    }

    /// Builds what is simulated: only who runs the link can open a queue of the kernel.
    fn build(&self, head: &Head<'_>) -> AnyQueue<P> {
        match &self.simulated {
            Some(kind) => kind.build(head),
            None => DropTail::new(Limit::Unlimited).into(),
        }
    }

    fn shares_state(&self) -> bool {
        self.simulated
            .as_ref()
            .is_some_and(|kind| kind.shares_state())
    }

    fn of_kernel(&self) -> Option<&Discipline> {
        Some(&self.discipline)
    }

    fn is_simulated(&self) -> bool {
        self.simulated.is_some()
    }
}
