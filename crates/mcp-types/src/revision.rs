use std::fmt;

/// A revision of the protocol, named by its date.
///
/// Revisions compare by age. The set of known ones grows in minor releases, so this is no enum to match on: ask
/// [`Revision::era`], compare with a constant, or look a method up in the method table.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Revision(u8);

/// How a revision converses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize`, sessions, requests in both directions: 2024-10-07 to 2025-11-25.
    Stateful,
    /// `_meta` on each request, `server/discover`, input_required round trips: from 2026-07-28.
    Stateless,
}

const NAMES: [&str; 6] = [
    "2024-10-07",
    "2024-11-05",
    "2025-03-26",
    "2025-06-18",
    "2025-11-25",
    "2026-07-28",
];

impl Revision {
    /// 2024-10-07, the first.
    pub const V2024_10_07: Revision = Revision(0);
    /// 2024-11-05.
    pub const V2024_11_05: Revision = Revision(1);
    /// 2025-03-26, the only one with batches.
    pub const V2025_03_26: Revision = Revision(2);
    /// 2025-06-18.
    pub const V2025_06_18: Revision = Revision(3);
    /// 2025-11-25, the last with a handshake.
    pub const V2025_11_25: Revision = Revision(4);
    /// 2026-07-28, the first without state.
    pub const V2026_07_28: Revision = Revision(5);

    /// All, oldest first.
    pub const ALL: [Revision; 6] = [
        Revision(0),
        Revision(1),
        Revision(2),
        Revision(3),
        Revision(4),
        Revision(5),
    ];
    /// The newest.
    pub const LATEST: Revision = Revision::V2026_07_28;
    /// The newest that begins with `initialize`.
    pub const LATEST_HANDSHAKE: Revision = Revision::V2025_11_25;

    /// The revision of this name, if it is a known one. Names are opaque: nothing is parsed as a date.
    pub fn from_name(name: &str) -> Option<Revision> {
        NAMES
            .iter()
            .position(|known| *known == name)
            .map(|at| Revision(at as u8))
    }

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        NAMES[self.0 as usize]
    }

    /// How this revision converses.
    pub const fn era(self) -> Era {
        if self.0 >= Revision::V2026_07_28.0 {
            Era::Stateless
        } else {
            Era::Stateful
        }
    }

    /// Whether this is 2026-07-28 or later.
    pub const fn is_stateless(self) -> bool {
        matches!(self.era(), Era::Stateless)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Debug for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of revisions: what a server serves, what a client offers, where a method exists.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revisions(u8);

impl Revisions {
    /// None.
    pub const NONE: Revisions = Revisions(0);
    /// Every known one.
    pub const ALL: Revisions = Revisions(0b11_1111);
    /// Those with a handshake.
    pub const STATEFUL: Revisions = Revisions::between(Revision::V2024_10_07, Revision::V2025_11_25);
    /// Those without.
    pub const STATELESS: Revisions = Revisions::since(Revision::V2026_07_28);

    /// One revision.
    pub const fn only(revision: Revision) -> Revisions {
        Revisions(1 << revision.0)
    }

    /// `first` and all newer ones.
    pub const fn since(first: Revision) -> Revisions {
        Revisions(Revisions::ALL.0 & !((1 << first.0) - 1))
    }

    /// From `first` to `last`, both included.
    pub const fn between(first: Revision, last: Revision) -> Revisions {
        Revisions(Revisions::since(first).0 & ((1 << (last.0 + 1)) - 1))
    }

    /// Whether `revision` is in the set.
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & (1 << revision.0) != 0
    }

    /// Those in both sets.
    #[must_use]
    pub const fn and(self, other: Revisions) -> Revisions {
        Revisions(self.0 & other.0)
    }

    /// Those in either set.
    #[must_use]
    pub const fn or(self, other: Revisions) -> Revisions {
        Revisions(self.0 | other.0)
    }

    /// Whether there are none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, newest first.
    pub fn iter(self) -> impl Iterator<Item = Revision> {
        Revision::ALL
            .into_iter()
            .rev()
            .filter(move |revision| self.contains(*revision))
    }

    /// The newest member.
    pub fn newest(self) -> Option<Revision> {
        self.iter().next()
    }
}

impl FromIterator<Revision> for Revisions {
    fn from_iter<I: IntoIterator<Item = Revision>>(revisions: I) -> Self {
        revisions
            .into_iter()
            .fold(Revisions::NONE, |set, one| set.or(Revisions::only(one)))
    }
}

impl From<Revision> for Revisions {
    fn from(one: Revision) -> Self {
        Revisions::only(one)
    }
}

impl fmt::Debug for Revisions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_their_names_say() {
        assert_eq!(Revisions::STATEFUL.newest(), Some(Revision::LATEST_HANDSHAKE));
        assert_eq!(
            Revisions::STATELESS.iter().collect::<Vec<_>>(),
            [Revision::LATEST]
        );
        assert!(Revisions::ALL.contains(Revision::V2024_10_07));
        assert_eq!(Revisions::STATEFUL.and(Revisions::STATELESS), Revisions::NONE);
        assert_eq!(Revision::from_name("2025-03-26"), Some(Revision::V2025_03_26));
        assert_eq!(Revision::from_name("v999"), None);
    }
}
