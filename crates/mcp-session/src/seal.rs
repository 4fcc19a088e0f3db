use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use mcp_jsonrpc::{Call, ParamKey, RawJson};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::error::SessionError;

/// Protects the `requestState` that a server hands to a client and gets back (2026-07-28:
/// basic/patterns/mrtr). The client may read it with the default sealer; it can never change it.
///
/// Replace it to encrypt, or to keep the state on the server and hand out a handle.
pub trait StateSealer: Send + Sync + 'static {
    /// Turns a payload into an opaque token.
    ///
    /// # Errors
    /// When the sealer's own means fail (a key store, random numbers).
    fn seal(&self, payload: &[u8]) -> Result<String, SessionError>;

    /// Takes a token back.
    ///
    /// # Errors
    /// When the token is not one of ours, or was changed.
    fn open(&self, token: &str) -> Result<Vec<u8>, SessionError>;
}

/// HMAC-SHA256 over the payload, which stays readable.
#[derive(Clone)]
pub struct HmacSealer {
    /// The first one seals, all of them open: that is how keys are rotated.
    keys: Arc<[[u8; 32]]>,
}

const VERSION: &str = "v1";

impl HmacSealer {
    /// A sealer with a fresh random key: tokens do not outlive the process, nor reach another one.
    ///
    /// # Errors
    /// When the system has no random numbers.
    pub fn random() -> Result<Self, SessionError> {
        let mut key = [0; 32];
        getrandom::fill(&mut key)
            .map_err(|error| SessionError::internal(format!("no random numbers: {error}")))?;
        Ok(Self::with_keys([key]))
    }

    /// A sealer with these keys, for servers of several processes. The first seals; all open.
    pub fn with_keys(keys: impl IntoIterator<Item = [u8; 32]>) -> Self {
        Self {
            keys: keys.into_iter().collect(),
        }
    }

    fn mac(key: &[u8; 32], payload: &[u8]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(key).ok()?;
        mac.update(VERSION.as_bytes());
        mac.update(payload);
        Some(mac)
    }
}

impl StateSealer for HmacSealer {
    fn seal(&self, payload: &[u8]) -> Result<String, SessionError> {
        let payload =
            std::str::from_utf8(payload).map_err(|_| SessionError::internal("state is not text"))?;
        let mac = self
            .keys
            .first()
            .and_then(|key| Self::mac(key, payload.as_bytes()));
        let mac = mac
            .ok_or_else(|| SessionError::internal("the sealer has no key"))?
            .finalize()
            .into_bytes();
        Ok(format!("{VERSION}.{}.{payload}", hex(&mac)))
    }

    fn open(&self, token: &str) -> Result<Vec<u8>, SessionError> {
        let mut parts = token.splitn(3, '.');
        let (Some(VERSION), Some(mac), Some(payload)) = (parts.next(), parts.next(), parts.next()) else {
            return Err(SessionError::state("requestState is not one of this server's"));
        };
        let mac =
            unhex(mac).ok_or_else(|| SessionError::state("requestState is not one of this server's"))?;
        let known = self
            .keys
            .iter()
            .filter_map(|key| Self::mac(key, payload.as_bytes()));
        // `verify_slice` compares in constant time.
        if known
            .into_iter()
            .any(|candidate| candidate.verify_slice(&mac).is_ok())
        {
            return Ok(payload.as_bytes().to_vec());
        }
        Err(SessionError::state("requestState was changed"))
    }
}

/// Shows no key.
impl fmt::Debug for HmacSealer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HmacSealer({} keys)", self.keys.len())
    }
}

/// What a `requestState` is bound to: it opens only for the same caller and the same call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// The caller, where one was authenticated.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    principal: Option<String>,
    /// SHA-256 over the method, the name or URI, and the arguments.
    call: String,
}

impl Binding {
    /// The binding of this call by this principal.
    pub fn new(principal: Option<&str>, call: &Call) -> Self {
        let mut digest = Sha256::new();
        digest.update(call.method());
        for key in [ParamKey::Name, ParamKey::Uri, ParamKey::Arguments] {
            let value = call.param(key);
            let bytes = value.as_ref().map(RawJson::as_bytes).unwrap_or_default();
            // The length keeps neighbours apart.
            digest.update(u64::try_from(bytes.len()).unwrap_or(u64::MAX).to_be_bytes());
            digest.update(bytes);
        }
        Self {
            principal: principal.map(Into::into),
            call: hex(&digest.finalize()),
        }
    }
}

/// What a handler needs again when its call is retried: earlier answers and remembered values, by key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundState {
    /// Answers of earlier rounds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<(String, RawJson)>,
    /// Values the handler remembered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remembered: Vec<(String, RawJson)>,
    /// How many rounds there were.
    #[serde(default)]
    pub rounds: u32,
}

#[derive(Serialize, Deserialize)]
struct Payload {
    binding: Binding,
    /// Unix seconds.
    expires: u64,
    state: RoundState,
}

/// Seals a round's state for this call.
///
/// # Errors
/// When the sealer fails.
pub fn seal_round(
    sealer: &dyn StateSealer,
    binding: Binding,
    lifetime: Duration,
    state: RoundState,
) -> Result<String, SessionError> {
    let expires = now().saturating_add(lifetime.as_secs());
    let payload = RawJson::encode(&Payload {
        binding,
        expires,
        state,
    })
    .map_err(|error| SessionError::internal(format!("state cannot be encoded: {error}")))?;
    sealer.seal(payload.as_bytes())
}

/// Opens what [`seal_round`] made, for the same caller and call, before it expires.
///
/// # Errors
/// When it was changed, has expired, or belongs to another caller or call.
pub fn open_round(
    sealer: &dyn StateSealer,
    binding: &Binding,
    token: &str,
) -> Result<RoundState, SessionError> {
    let payload = sealer.open(token)?;
    let payload: Payload =
        serde_json::from_slice(&payload).map_err(|_| SessionError::state("requestState has another form"))?;
    if payload.binding != *binding {
        return Err(SessionError::state("requestState belongs to another request"));
    }
    if payload.expires < now() {
        return Err(SessionError::state("requestState has expired"));
    }
    Ok(payload.state)
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
}

fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    bytes
        .iter()
        .flat_map(|b| {
            [
                DIGITS[usize::from(b >> 4)] as char,
                DIGITS[usize::from(b & 15)] as char,
            ]
        })
        .collect()
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let pairs = text.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> Call {
        let params = format!(r#"{{"name":"deploy","arguments":{arguments}}}"#);
        Call::new("tools/call", Some(RawJson::from_text(params).unwrap()))
    }

    fn state() -> RoundState {
        let answers = vec![(
            "who".into(),
            RawJson::from_text(r#"{"action":"accept"}"#).unwrap(),
        )];
        RoundState {
            answers,
            rounds: 1,
            ..RoundState::default()
        }
    }

    const LIFE: Duration = Duration::from_secs(60);

    #[test]
    fn a_round_comes_back_for_the_same_caller_and_call() {
        let sealer = HmacSealer::random().unwrap();
        let binding = Binding::new(Some("ann"), &call(r#"{"a":1}"#));
        let token = seal_round(&sealer, binding.clone(), LIFE, state()).unwrap();
        assert_eq!(open_round(&sealer, &binding, &token).unwrap(), state());
        for other in [
            Binding::new(Some("bob"), &call(r#"{"a":1}"#)),
            Binding::new(Some("ann"), &call(r#"{"a":2}"#)),
        ] {
            assert!(open_round(&sealer, &other, &token).unwrap_err().is_state());
        }
    }

    #[test]
    fn any_change_is_noticed() {
        let sealer = HmacSealer::random().unwrap();
        let binding = Binding::new(None, &call("{}"));
        let token = seal_round(&sealer, binding.clone(), LIFE, state()).unwrap();
        for at in 0..token.len() {
            let mut bytes = token.clone().into_bytes();
            bytes[at] ^= 1;
            let changed = String::from_utf8(bytes).unwrap();
            assert!(open_round(&sealer, &binding, &changed).is_err(), "byte {at}");
        }
        assert!(open_round(&sealer, &binding, &format!("{token}x")).is_err());
        assert!(open_round(&sealer, &binding, "").is_err());
        let stranger = HmacSealer::random().unwrap();
        assert!(open_round(&stranger, &binding, &token).is_err());
    }

    #[test]
    fn an_old_key_still_opens_and_an_expired_state_does_not() {
        let old = HmacSealer::with_keys([[1; 32]]);
        let both = HmacSealer::with_keys([[2; 32], [1; 32]]);
        let binding = Binding::new(None, &call("{}"));
        let token = seal_round(&old, binding.clone(), LIFE, state()).unwrap();
        assert!(open_round(&both, &binding, &token).is_ok());
        let payload = Payload {
            binding: binding.clone(),
            expires: now() - 1,
            state: state(),
        };
        let stale = old.seal(RawJson::encode(&payload).unwrap().as_bytes()).unwrap();
        assert!(
            open_round(&old, &binding, &stale)
                .unwrap_err()
                .to_string()
                .contains("expired")
        );
    }
}
