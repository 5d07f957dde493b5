//! The server on loopback: files of the page, pictures of the gallery, and the socket.
//!
//! In:  requests from this machine.
//! Out: answers to those that know the secret and come from here; all others are refused.

use crate::gallery;
use crate::guard::{is_own_host, is_own_origin, is_secret, new_secret};
use crate::hub::{Hub, Out};
use crate::library;
use crate::page;
use crate::session::serve;
use axum::Router;
use axum::body::Body;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Response, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{any, get};
use axum::serve::{Listener, ListenerExt};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::unbounded_channel;

/// Largest message of the page: a whole text, and some.
const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// How often files are looked at for changes by others.
const LOOK_EVERY: Duration = Duration::from_millis(700);

/// What every request needs.
#[derive(Clone)]
struct Shared {
    hub: Arc<Hub>,
    secret: Arc<str>,
    port: u16,
}

impl Shared {
    /// Tells whether a request may be answered.
    fn may(&self, secret: &str, headers: &HeaderMap, is_socket: bool) -> bool {
        let text = |name: header::HeaderName| headers.get(name).and_then(|v| v.to_str().ok());
        let has_foreign_origin =
            headers.contains_key(header::ORIGIN) && text(header::ORIGIN).is_none();
        is_secret(secret, &self.secret)
            && is_own_host(text(header::HOST), self.port)
            && !has_foreign_origin
            && is_own_origin(text(header::ORIGIN), self.port, is_socket)
    }
}

/// Serves a hub on a listener until the program ends.
///
/// # Errors
///
/// The listener fails.
pub async fn run(listener: TcpListener, hub: Arc<Hub>, secret: String) -> Result<(), String> {
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    let shared = Shared {
        hub: hub.clone(),
        secret: secret.into(),
        port,
    };
    std::thread::spawn(move || {
        let mut listed = hub.folder.list();
        loop {
            std::thread::sleep(LOOK_EVERY);
            hub.look(&mut listed);
        }
    });
    let router = Router::new()
        .route("/{secret}/socket", any(socket))
        .route("/{secret}/gallery/{picture}", get(picture_of_gallery))
        .route("/{secret}/library/{picture}", get(picture_of_part))
        .route("/{secret}/", get(index))
        .route("/{secret}/{*path}", get(file))
        .fallback(|| async { refused() })
        .with_state(shared);
    axum::serve(prompt(listener), router)
        .await
        .map_err(|e| e.to_string())
}

/// Sends every message at once. Left to itself the system holds a small one back until the page has confirmed the
/// one before, which a browser does up to 40 ms later: an answer and the curves behind it are such a pair.
fn prompt(listener: TcpListener) -> impl Listener<Io = TcpStream, Addr = SocketAddr> {
    listener.tap_io(|stream| {
        // Without it the page is slower, not wrong.
        let _ = stream.set_nodelay(true);
    })
}

fn refused() -> Response<Body> {
    (
        StatusCode::FORBIDDEN,
        "refused: open the address that `paynter studio` printed\n",
    )
        .into_response()
}

fn not_found() -> Response<Body> {
    (StatusCode::NOT_FOUND, "there is no such file\n").into_response()
}

async fn index(
    State(shared): State<Shared>,
    Path(secret): Path<String>,
    headers: HeaderMap,
) -> Response<Body> {
    give(&shared, &secret, "", &headers)
}

async fn file(
    State(shared): State<Shared>,
    Path((secret, path)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response<Body> {
    give(&shared, &secret, &path, &headers)
}

fn give(shared: &Shared, secret: &str, path: &str, headers: &HeaderMap) -> Response<Body> {
    if !shared.may(secret, headers, false) {
        return refused();
    }
    let Ok(nonce) = new_secret() else {
        return refused();
    };
    page::file(path, headers, shared.port, &nonce).unwrap_or_else(not_found)
}

async fn picture_of_gallery(
    State(shared): State<Shared>,
    Path((secret, picture)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response<Body> {
    if !shared.may(&secret, &headers, false) {
        return refused();
    }
    drawn_by(&shared, &picture, gallery::picture).await
}

async fn picture_of_part(
    State(shared): State<Shared>,
    Path((secret, picture)): Path<(String, String)>,
    headers: HeaderMap,
) -> Response<Body> {
    if !shared.may(&secret, &headers, false) {
        return refused();
    }
    drawn_by(&shared, &picture, library::picture).await
}

/// Draws a picture on a thread of its own.
async fn drawn_by(
    shared: &Shared,
    picture: &str,
    draw: fn(&str) -> Option<String>,
) -> Response<Body> {
    let name = picture.strip_suffix(".svg").unwrap_or(picture).to_owned();
    let drawn = tokio::task::spawn_blocking(move || draw(&name)).await;
    let drawn = drawn.ok().flatten();
    drawn
        .and_then(|svg| page::made(svg, "image/svg+xml", shared.port))
        .unwrap_or_else(not_found)
}

async fn socket(
    State(shared): State<Shared>,
    Path(secret): Path<String>,
    headers: HeaderMap,
    upgrade: WebSocketUpgrade,
) -> Response<Body> {
    if !shared.may(&secret, &headers, true) {
        return refused();
    }
    let upgrade = upgrade
        .max_message_size(MAX_MESSAGE_BYTES)
        .max_frame_size(MAX_MESSAGE_BYTES);
    upgrade.on_upgrade(move |socket| talk(socket, shared.hub))
}

/// Carries messages between a socket and the threads that serve it.
async fn talk(mut socket: WebSocket, hub: Arc<Hub>) {
    let (sender, mut outgoing) = unbounded_channel::<Message>();
    let (asks, heard) = std::sync::mpsc::channel::<String>();
    let out = Out::new(sender);
    std::thread::spawn(move || serve(&hub, &out, &heard));
    loop {
        tokio::select! {
            message = socket.recv() => match message {
                Some(Ok(Message::Text(text))) => {
                    if asks.send(text.to_string()).is_err() { break }
                }
                Some(Ok(Message::Close(_)) | Err(_)) | None => break,
                Some(Ok(_)) => {}
            },
            message = outgoing.recv() => match message {
                Some(message) => {
                    if socket.send(message).await.is_err() { break }
                }
                None => break,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn small_messages_are_not_held_back() {
        let listener = TcpListener::bind(("127.0.0.1", 0))
            .await
            .expect("loopback has a free port");
        let address = listener.local_addr().expect("it is bound");
        let _page = TcpStream::connect(address).await.expect("it listens");
        let (stream, _) = prompt(listener).accept().await;
        assert!(stream.nodelay().expect("the stream is open"));
    }
}
