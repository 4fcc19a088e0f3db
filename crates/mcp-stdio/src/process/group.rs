//! The process group of a child: the unit that is ended, since a server is often a wrapper around the real program.

/// A group whose leader we started.
///
/// Its number stays taken while any member lives or waits to be reaped, so signals are safe as long as
/// [`Group::is_gone`] has not returned true. Nothing is signalled after that.
#[cfg(unix)]
#[derive(Debug)]
pub(super) struct Group(rustix::process::Pid);

#[cfg(unix)]
impl Group {
    pub(super) fn new(leader: u32) -> Option<Self> {
        i32::try_from(leader)
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .map(Self)
    }

    pub(super) fn terminate(&self) {
        self.signal(rustix::process::Signal::TERM);
    }

    pub(super) fn kill(&self) {
        self.signal(rustix::process::Signal::KILL);
    }

    fn signal(&self, signal: rustix::process::Signal) {
        // The only failures are "no such group", which is what we want, and members that changed their user.
        let _ = rustix::process::kill_process_group(self.0, signal);
    }

    /// Whether no member is left. Ask only after the leader was reaped.
    ///
    /// Orphans of the group are our own children if this process is the first of a container; nobody else would reap
    /// them then. Dead ones that somebody else has yet to reap do not count as members.
    pub(super) fn is_gone(&self) -> bool {
        use rustix::process::{WaitOptions, test_kill_process_group, waitpgid};
        while let Ok(Some(_)) = waitpgid(self.0, WaitOptions::NOHANG) {}
        test_kill_process_group(self.0) == Err(rustix::io::Errno::SRCH) || self.has_only_dead_members()
    }

    /// The first process of a container is often a program that reaps late or never; without this look into `/proc`
    /// every close there would go through all its waits.
    #[cfg(target_os = "linux")]
    fn has_only_dead_members(&self) -> bool {
        let Ok(processes) = std::fs::read_dir("/proc") else {
            return false;
        };
        let group = self.0.as_raw_nonzero().to_string();
        let mut dead = false;
        for process in processes.flatten() {
            if !process
                .file_name()
                .as_encoded_bytes()
                .first()
                .is_some_and(u8::is_ascii_digit)
            {
                continue;
            }
            let Ok(stat) = std::fs::read(process.path().join("stat")) else {
                continue;
            };
            // "pid (name) state parent group ...", where the name may hold anything.
            let Some(name_end) = stat.iter().rposition(|byte| *byte == b')') else {
                continue;
            };
            let mut fields = stat[name_end + 1..]
                .split(|byte| *byte == b' ')
                .filter(|field| !field.is_empty());
            let state = fields.next();
            if fields.nth(1) == Some(group.as_bytes()) {
                if !matches!(state, Some(b"Z" | b"X")) {
                    return false;
                }
                dead = true;
            }
        }
        // Without a single sighting the answer is left to the signal test.
        dead
    }

    #[cfg(not(target_os = "linux"))]
    fn has_only_dead_members(&self) -> bool {
        false
    }
}

/// Elsewhere there is no group; the child itself is ended through its own handle.
#[cfg(not(unix))]
#[derive(Debug)]
pub(super) struct Group;

#[cfg(not(unix))]
impl Group {
    pub(super) fn new(_leader: u32) -> Option<Self> {
        None
    }

    pub(super) fn terminate(&self) {}

    pub(super) fn kill(&self) {}

    pub(super) fn is_gone(&self) -> bool {
        true
    }
}
