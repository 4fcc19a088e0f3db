//! A server without any layer above the transport: it answers each request with its parameters. The method
//! `x/sleep` waits for so many milliseconds first.
//!
//! Try it: `echo '{"jsonrpc":"2.0","id":1,"method":"ping"}' | cargo run -p mcp-stdio --example echo`

use std::time::Duration;

use mcp_exchange::{Exchange, Handler, Reply};
use mcp_jsonrpc::{ParamKey, RawJson};
use mcp_types::method;

struct Echo;

impl Handler for Echo {
    async fn call(&self, exchange: Exchange) -> Reply {
        let (call, scope) = (&exchange.request.call, &exchange.scope);
        // Standard output belongs to the protocol; this is where logs go.
        eprintln!("call {}", call.method());
        match call.method() {
            method::INITIALIZE => {
                let version = scope.revision().name();
                let text = format!(
                    r#"{{"protocolVersion":"{version}","capabilities":{{}},"serverInfo":{{"name":"echo","version":"1"}}}}"#
                );
                let result = RawJson::from_text(text).unwrap_or(RawJson::empty_object());
                return scope.complete_raw(&result);
            }
            "x/sleep" => {
                let time = call.param(ParamKey::Arguments).and_then(|time| time.parse().ok());
                tokio::time::sleep(Duration::from_millis(time.unwrap_or_default())).await;
            }
            _ => {}
        }
        scope.complete_raw(call.params().unwrap_or(&RawJson::empty_object()))
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    mcp_stdio::serve(Echo).await?;
    Ok(())
}
