//! The reason why a member can no longer decide.

use core::error::Error;
use core::fmt;
use std::sync::Arc;

/// The reason why a member can no longer decide, such as an exception in one that is written in
/// another language. Cheap to clone; equal only to its clones.
#[derive(Clone)]
pub struct MemberFailure(Arc<dyn Error + Send + Sync>);

impl MemberFailure {
    /// Creates a failure for this reason.
    pub fn new(reason: impl Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(reason))
    }

    /// Returns the reason, if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl PartialEq for MemberFailure {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for MemberFailure {}

impl fmt::Debug for MemberFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for MemberFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for MemberFailure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    #[derive(Debug)]
    struct Outer(io::Error);

    impl fmt::Display for Outer {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the member has stopped")
        }
    }

    impl Error for Outer {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn a_failure_keeps_its_reason_and_equals_its_clones() {
        let failure = || MemberFailure::new(Outer(io::Error::other("out of memory")));
        let first = failure();
        assert_eq!(first, first.clone());
        assert_ne!(first, failure());
        assert_eq!(first.to_string(), "the member has stopped");
        assert!(first.downcast_ref::<Outer>().is_some());
        assert!(first.downcast_ref::<io::Error>().is_none());
        let source = first.source().map(ToString::to_string);
        assert_eq!(source.as_deref(), Some("out of memory"));
    }
}
