use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Makes a future again and again, and drops it after its first wait, after its second, and so on, until one runs to
/// its end. After each drop `check` may look at what is left. Returns how often the last one waited, and its output.
///
/// Waits are counted as the polls that gave nothing, so a future must wait the same way each time for all of its await
/// points to be met.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use std::cell::Cell;
///
/// let open = Cell::new(0);
/// let (waits, ()) = mcp_testkit::drop_anywhere(
///     || async {
///         open.set(open.get() + 1);
///         let _guard = OnDrop(&open);
///         tokio::task::yield_now().await;
///         tokio::task::yield_now().await;
///     },
///     |_| assert_eq!(open.get(), 0),
/// )
/// .await;
/// assert_eq!(waits, 2);
///
/// struct OnDrop<'a>(&'a Cell<u32>);
/// impl Drop for OnDrop<'_> {
///     fn drop(&mut self) {
///         self.0.set(self.0.get() - 1);
///     }
/// }
/// # }
/// ```
///
/// # Cancel safety
/// Dropping it drops the future that it is polling.
pub async fn drop_anywhere<F: Future>(
    mut make: impl FnMut() -> F,
    mut check: impl FnMut(usize),
) -> (usize, F::Output) {
    let mut allowed = 0;
    loop {
        let done = {
            let mut future = pin!(make());
            let mut waits = 0;
            poll_fn(|cx| match future.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some((waits, output))),
                Poll::Pending if waits == allowed => Poll::Ready(None),
                Poll::Pending => {
                    waits += 1;
                    Poll::Pending
                }
            })
            .await
        };
        check(allowed);
        match done {
            Some(done) => return done,
            None => allowed += 1,
        }
    }
}
