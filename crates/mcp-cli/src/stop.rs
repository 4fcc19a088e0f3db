//! What happens when somebody interrupts the command.

use std::future::Future;
use std::time::Duration;

use crate::failure::Failure;

/// Longer than it takes to end the most stubborn server.
const LONGEST: Duration = Duration::from_secs(7);
const STEP: Duration = Duration::from_millis(20);

/// Runs a command. When told to stop, drops it, which ends its servers, and waits until they are gone: they are in
/// groups of their own, so the terminal's interrupt does not reach them.
pub(crate) async fn unless_told_to_stop(
    command: impl Future<Output = Result<(), Failure>>,
) -> Result<(), Failure> {
    let outcome = {
        let mut command = std::pin::pin!(command);
        tokio::select! {
            // Signals are heard before the command says anything.
            biased;
            code = told_to_stop() => Err(code),
            outcome = &mut command => Ok(outcome),
        }
    };
    match outcome {
        Ok(outcome) => outcome,
        Err(code) => {
            // Every child has a task that ends with it.
            let tasks = tokio::runtime::Handle::current().metrics();
            let gone = async {
                while tasks.num_alive_tasks() > 0 {
                    tokio::time::sleep(STEP).await;
                }
            };
            // What is left after that is nothing that waiting would end.
            let _ = tokio::time::timeout(LONGEST, gone).await;
            Err(Failure::stopped(code))
        }
    }
}

/// The exit code that a shell gives for the signal.
#[cfg(unix)]
async fn told_to_stop() -> u8 {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        // Signals keep their usual effect, then.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => 130,
        _ = terminate.recv() => 143,
    }
}

#[cfg(not(unix))]
async fn told_to_stop() -> u8 {
    match tokio::signal::ctrl_c().await {
        Ok(()) => 130,
        Err(_) => std::future::pending().await,
    }
}
