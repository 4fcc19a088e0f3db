//! The task that watches one child from start to end.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::group::Group;
use super::report::{Ending, ExitStatus};

/// How long each step of a close may take. The sum, and a quarter of a second, bounds a close.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// From the end of input to `SIGTERM`. Default 2 s.
    pub after_input: Duration,
    /// From `SIGTERM` to `SIGKILL`. Default 2 s.
    pub after_terminate: Duration,
    /// From `SIGKILL` to giving up on a report; the child is still reaped when the system lets it go. Default 2 s.
    pub after_kill: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        let two = Duration::from_secs(2);
        Self {
            after_input: two,
            after_terminate: two,
            after_kill: two,
        }
    }
}

/// How long the last lines of standard error may take to arrive after the program has ended. A descendant that left
/// the group can hold the pipe for ever.
pub(super) const SETTLE: Duration = Duration::from_millis(250);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Run,
    /// Input is closed; wait, then escalate.
    Close,
    /// Nobody is interested any more: skip the first wait.
    Abandon,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Progress {
    /// The program itself has ended.
    pub(super) exited: Option<ExitStatus>,
    /// Its group as well.
    pub(super) finished: Option<Ending>,
    /// Standard error was read to its end.
    pub(super) stderr_done: bool,
}

/// The operating system's side of a child. Whatever happens to the task that owns it, dropping it ends the group.
pub(super) struct Process {
    child: Option<tokio::process::Child>,
    group: Option<Group>,
    progress: watch::Sender<Progress>,
}

impl Process {
    pub(super) fn new(child: tokio::process::Child, progress: watch::Sender<Progress>) -> Self {
        let group = child.id().and_then(Group::new);
        Self {
            child: Some(child),
            group,
            progress,
        }
    }

    /// Waits for the program itself, and reaps it. Safe to drop and call again.
    async fn leader(&mut self) {
        let Some(child) = &mut self.child else { return };
        let status = child.wait().await.map_or(ExitStatus::Unknown, ExitStatus::new);
        self.child = None;
        self.progress
            .send_modify(|progress| progress.exited = Some(status));
    }

    /// Waits until no member of the group is left. Safe to drop and call again.
    async fn gone(&mut self) {
        self.leader().await;
        // Members that are not our children give no sign of their end, so this has to look.
        let mut pause = Duration::from_millis(1);
        while let Some(group) = &self.group {
            if group.is_gone() {
                self.group = None;
                return;
            }
            sleep(pause).await;
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    fn terminate(&mut self) {
        match &self.group {
            Some(group) => group.terminate(),
            None => self.kill_child(),
        }
    }

    fn kill(&mut self) {
        match &self.group {
            Some(group) => group.kill(),
            None => self.kill_child(),
        }
    }

    fn kill_child(&mut self) {
        if let Some(child) = &mut self.child {
            // Fails only for a child that has already ended.
            let _ = child.start_kill();
        }
    }
}

/// Reached with a live child only if the runtime goes away under the task. There is nothing left to wait on then, so
/// the group is killed at once and a plain thread does the reaping.
impl Drop for Process {
    fn drop(&mut self) {
        if self.child.is_none() && self.group.as_ref().is_none_or(Group::is_gone) {
            return;
        }
        self.kill();
        let Some(mut child) = self.child.take() else {
            return;
        };
        let reap = move || {
            while let Ok(None) = child.try_wait() {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        // Without a thread the child stays unreaped until this process ends; there is no better place for it.
        let _ = std::thread::Builder::new()
            .name("mcp-reap".to_owned())
            .spawn(reap);
    }
}

/// Watches the child until its whole group has ended. When the program ends by itself, what is left of its group gets
/// the same steps as on a close: a server is over when its program is.
pub(super) async fn supervise(
    mut process: Process,
    mut order: watch::Receiver<Order>,
    progress: watch::Sender<Progress>,
    mut stderr: JoinHandle<()>,
    grace: Grace,
) {
    race(process.leader(), at_least(&mut order, Order::Close)).await;

    let wait = timeout(grace.after_input, process.gone());
    let mut gone = matches!(
        race(wait, at_least(&mut order, Order::Abandon)).await,
        Either::First(Ok(()))
    );
    let mut ending = Ending::ByItself;
    if !gone {
        ending = Ending::Terminated;
        process.terminate();
        gone = timeout(grace.after_terminate, process.gone()).await.is_ok();
    }
    if !gone {
        ending = Ending::Killed;
        process.kill();
        // A failure means an unkillable process; the report must not wait for it.
        let _ = timeout(grace.after_kill, process.gone()).await;
    }
    if timeout(SETTLE, &mut stderr).await.is_err() {
        stderr.abort();
    }
    progress.send_modify(|progress| progress.finished = Some(ending));
    process.leader().await;
}

/// Waits for an order of this weight. A sender that is gone means nobody is interested any more.
async fn at_least(order: &mut watch::Receiver<Order>, weight: Order) {
    let enough =
        |order: &Order| *order == Order::Abandon || (weight == Order::Close && *order == Order::Close);
    // The error is the closed channel, which counts as the order.
    let _ = order.wait_for(enough).await;
}

enum Either<A> {
    First(A),
    Second,
}

/// Runs two futures until one is ready; the first has precedence.
async fn race<A>(first: impl Future<Output = A>, second: impl Future<Output = ()>) -> Either<A> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    poll_fn(|cx| {
        if let Poll::Ready(value) = first.as_mut().poll(cx) {
            return Poll::Ready(Either::First(value));
        }
        second.as_mut().poll(cx).map(|()| Either::Second)
    })
    .await
}
