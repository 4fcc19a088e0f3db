//! What servers offer, and the steps that a client takes with each.

/// What a server has. All but the contract belong to one of the reference servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    /// What `xtask/peers/README.md` states.
    Contract,
    Everything,
    Filesystem,
    Memory,
    Thinking,
}

impl Offer {
    pub(crate) const ALL: [Self; 5] = [
        Self::Contract,
        Self::Everything,
        Self::Filesystem,
        Self::Memory,
        Self::Thinking,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Contract => "contract",
            Self::Everything => "everything",
            Self::Filesystem => "filesystem",
            Self::Memory => "memory",
            Self::Thinking => "thinking",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|offer| offer.name() == name)
    }

    /// The steps of a client that can take all of them, in the order in which it prints them.
    pub(crate) const fn steps(self) -> &'static [&'static str] {
        match self {
            Self::Contract | Self::Everything => CONTRACT,
            Self::Filesystem => &["handshake", "list_tools", "write", "read", "fail", "close"],
            Self::Memory => &["handshake", "list_tools", "create", "search", "delete", "close"],
            Self::Thinking => &["handshake", "list_tools", "think", "close"],
        }
    }
}

const CONTRACT: &[&str] = &[
    "handshake",
    "list_tools",
    "list_resources",
    "list_templates",
    "list_prompts",
    "echo",
    "image",
    "structured",
    "fail",
    "unknown_tool",
    "progress",
    "cancel",
    "resource",
    "template",
    "missing_resource",
    "prompt",
    "ask",
    "close",
];

/// Those that the Inspector's command line can take with a contract server.
pub(crate) const INSPECTOR: &[&str] = &[
    "handshake",
    "list_tools",
    "list_resources",
    "list_templates",
    "list_prompts",
    "echo",
    "image",
    "structured",
    "fail",
    "progress",
    "resource",
    "template",
    "missing_resource",
    "prompt",
];
