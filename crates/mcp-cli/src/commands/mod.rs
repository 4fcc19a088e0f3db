pub(crate) mod call;
pub(crate) mod config;
pub(crate) mod demo;
pub(crate) mod inspect;
pub(crate) mod prompts;
pub(crate) mod resources;
pub(crate) mod serve;
pub(crate) mod tools;
