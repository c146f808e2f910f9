//! What the words of a scenario stand for.

/// The open sets that a scenario chooses from by name.
///
/// [`Registry::default`] holds what this crate comes with. A member of one's own is registered by
/// the same functions as those are, and a scenario then names it as it names them.
#[derive(Clone, Debug, Default)]
pub struct Registry {}
