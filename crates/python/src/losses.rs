//! Loss models written in Python.

use std::sync::Arc;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBool;
use skywave_path::{Loss, LossKind, Losses};
use skywave_registry::MemberFailure;
use skywave_units::{Instant, Random};

use crate::member::{Class, Live, Object, look_for, shown, wrong};

/// Makes `losses` find loss models in Python too.
pub(crate) fn look_for_losses(losses: &mut Losses, live: Live<'_>) {
    look_for(losses, live, "losses", "Losses", |given| {
        Ok(Arc::new(Kind(Class::new(given)?)))
    });
}

struct Kind(Class);

impl LossKind for Kind {
    fn build(&self, random: Random) -> Box<dyn Loss + Send> {
        Box::new(ObjectLoss(self.0.make(random, |_| Ok(()))))
    }

    fn may_be_tried(&self) -> bool {
        false
    }

    /// Classes in Python may share variables of their modules.
    fn shares_state(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct ObjectLoss(Object);

impl Loss for ObjectLoss {
    fn loses(&mut self, now: Instant, size: u32) -> bool {
        let answer = self.0.call("loses", |object| {
            let arguments = (now.as_secs_f64(), size);
            let answer = object.call_method1(intern!(object.py(), "loses"), arguments)?;
            match answer.cast::<PyBool>() {
                Ok(answer) => Ok(answer.is_true()),
                Err(_) => {
                    let what = format!("returned {}: return True or False", shown(&answer));
                    Err(wrong(object, "loses", &what))
                }
            }
        });
        answer.unwrap_or(false)
    }

    fn failure(&self) -> Option<MemberFailure> {
        self.0.failure()
    }
}
