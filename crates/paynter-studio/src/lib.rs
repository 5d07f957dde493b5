//! Paynter Studio: a page in the browser, served by this program on loopback.
//!
//! In:  a file or folder.
//! Out: the address of the page; the server behind it runs until the program ends.
//!
//! ```text
//! page (studio/) ── socket ── session ─┬─ analyst  texts → messages, view, parameters
//!                                      ├─ runner   texts + values → curves, audit
//!                                      └─ edits    change of the graph → change of the text
//! ```
//!
//! **Invariant:** nothing here knows bond graphs better than `paynter-service` and `paynter`: it carries
//! questions and answers.

mod analyse;
mod bonds;
mod changes;
mod derived;
mod edits;
mod export;
mod folder;
mod frame;
mod gallery;
mod guard;
mod hub;
mod library;
mod page;
mod result;
mod rewrites;
mod runner;
mod seen;
mod server;
mod session;
mod study;
mod texts;
mod told;
mod view;
mod ways;
mod wire;
mod words;
mod world;

use folder::Folder;
use hub::Hub;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;

pub use page::licenses;

/// What to serve.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A model file, or a folder of models; the present folder where none is given.
    pub path: Option<PathBuf>,
    /// The port; a free one where none is given.
    pub port: Option<u16>,
    /// The secret in the address; a new one where none is given. With both, a page that is open finds the
    /// server again after it was started anew.
    pub secret: Option<String>,
}

/// Serves until the program ends. `ready` is called once, with the address.
///
/// # Errors
///
/// The file or folder cannot be opened, or the port is taken.
pub fn studio(options: &Options, ready: impl FnOnce(&str)) -> Result<(), String> {
    let path = options.path.clone().unwrap_or_else(|| PathBuf::from("."));
    let (folder, opened) = open(&path)?;
    // A model may name files of the folder that the user works in: here that is the opened one.
    std::env::set_current_dir(folder.root()).map_err(|e| e.to_string())?;
    let secret = match &options.secret {
        Some(secret) if is_good_secret(secret) => secret.clone(),
        Some(_) => return Err("a key has 16 to 64 letters and digits".to_owned()),
        None => guard::new_secret()?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| e.to_string())?;
    runtime.block_on(async {
        let port = options.port.unwrap_or(0);
        let listener = TcpListener::bind(("127.0.0.1", port)).await;
        let listener = listener.map_err(|e| format!("port {port} on loopback: {e}"))?;
        let address = listener.local_addr().map_err(|e| e.to_string())?;
        ready(&format!("http://{address}/{secret}/"));
        server::run(listener, Arc::new(Hub::new(folder, opened)), secret).await
    })
}

fn is_good_secret(secret: &str) -> bool {
    (16..=64).contains(&secret.len()) && secret.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The folder to serve, and the file in it that was named.
fn open(path: &Path) -> Result<(Folder, Option<String>), String> {
    if path.is_dir() {
        return Ok((Folder::open(path)?, None));
    }
    if !path.exists() {
        return Err(format!(
            "{}: there is no such file or folder",
            path.display()
        ));
    }
    let name = path.file_name().map(|n| n.to_string_lossy().into_owned());
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty());
    Ok((Folder::open(parent.unwrap_or(Path::new(".")))?, name))
}
