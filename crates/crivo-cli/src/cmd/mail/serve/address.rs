//! The addresses on which the server listens: an address with a port, or a unix socket with
//! permissions.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use crivo_mail::connections::Listener;
use tokio::net::TcpListener;

/// An address to listen on.
#[derive(Debug, Clone)]
pub(super) enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => address.fmt(f),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// Parses an address: `unix:/path`, or an address with a port as in [`tcp_address`].
pub(super) fn address(option: &str, typed: &str, public: bool) -> Result<Address> {
    match typed.strip_prefix("unix:") {
        Some("") => bail!("{option} unix: expected a path, such as unix:/run/crivo-mail/{}", &option[2..]),
        Some(path) => Ok(Address::Unix(path.into())),
        None => tcp_address(option, typed, public).map(Address::Tcp),
    }
}

/// Parses an address with a port. An address that other machines can reach is refused unless
/// `public` is true.
pub(super) fn tcp_address(option: &str, typed: &str, public: bool) -> Result<SocketAddr> {
    let mut addresses = typed.to_socket_addrs().with_context(|| {
        format!(
            "{option} {typed}: expected an address with a port, such as 127.0.0.1:1783 (port 0: a free one)"
        )
    })?;
    let Some(address) = addresses.next() else { bail!("{option} {typed}: this name has no address") };
    if !address.ip().is_loopback() && !public {
        bail!(
            "{option} {typed}: other machines could reach this, and could ask and teach the filter; \
             add --public if that is wanted, or use 127.0.0.1"
        );
    }
    Ok(address)
}

/// Parses the permissions of a socket from octal digits.
pub(super) fn socket_mode(typed: &str) -> Result<u32, String> {
    u32::from_str_radix(typed, 8)
        .ok()
        .filter(|mode| *mode <= 0o777)
        .ok_or_else(|| format!("expected permissions in octal digits, such as 660, found {typed:?}"))
}

/// A listener, and the file of its socket, which is removed when this value is dropped.
#[derive(Debug)]
pub(super) struct Listening {
    pub(super) listener: Listener,
    socket: Option<SocketFile>,
}

#[derive(Debug)]
struct SocketFile {
    path: PathBuf,
    id: FileId,
}

/// The device and the number of a file, by which it is told from a later file of its name. `None`
/// if there is no file.
type FileId = Option<(u64, u64)>;

impl Drop for SocketFile {
    fn drop(&mut self) {
        // The file may be missing already, or belong to a server that replaced it. Errors are
        // ignored, because nothing can be done about them.
        if self.id.is_some() && id_of(&self.path) == self.id {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

#[cfg(unix)]
fn id_of(path: &Path) -> FileId {
    use std::os::unix::fs::MetadataExt;

    std::fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn id_of(_: &Path) -> FileId {
    None
}

impl Listening {
    /// Listens on an address.
    pub(super) async fn at(option: &str, address: &Address, mode: u32) -> Result<Self> {
        match address {
            Address::Tcp(address) => {
                let listener = tcp_listener(option, *address).await?;
                Ok(Self { listener: listener.into(), socket: None })
            }
            Address::Unix(path) => {
                let (listener, id) = unix_listener(path, mode)
                    .with_context(|| format!("{option} unix:{}: cannot listen there", path.display()))?;
                Ok(Self { listener, socket: Some(SocketFile { path: path.clone(), id }) })
            }
        }
    }

    /// Returns the listener, and a value that removes the socket's file when it is dropped.
    pub(super) fn into_parts(self) -> (Listener, impl Drop + Send) {
        (self.listener, KeptFile(self.socket))
    }
}

struct KeptFile(Option<SocketFile>);

impl Drop for KeptFile {
    fn drop(&mut self) {
        self.0.take();
    }
}

/// Listens on an address with a port.
pub(super) async fn tcp_listener(option: &str, address: SocketAddr) -> Result<TcpListener> {
    TcpListener::bind(address).await.with_context(|| {
        format!("{option} {address}: cannot listen there; choose another port, or 0 for a free one")
    })
}

/// Listens on a socket file. The file is created in a folder that no other user can enter, and then
/// moved, so that it appears with its permissions. A file that a killed server left is replaced. A
/// socket that a server answers on is not. Returns the listener and the identity of the file.
#[cfg(unix)]
fn unix_listener(path: &Path, mode: u32) -> Result<(Listener, FileId)> {
    use std::fs;
    use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
    use std::os::unix::net::UnixStream;

    if let Ok(found) = fs::symlink_metadata(path) {
        if !found.file_type().is_socket() {
            bail!("a file is there that is no socket");
        }
        if UnixStream::connect(path).is_ok() {
            bail!("another server answers there");
        }
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(".".as_ref());
    // The folder has a short name, because the path of a socket is limited.
    let folder = parent.join(format!(".{}", std::process::id()));
    fs::DirBuilder::new()
        .mode(0o700)
        .create(&folder)
        .with_context(|| format!("the folder {} cannot be written", parent.display()))?;
    let listen = || -> Result<(Listener, FileId)> {
        let made = folder.join("s");
        let listener = tokio::net::UnixListener::bind(&made)?;
        fs::set_permissions(&made, fs::Permissions::from_mode(mode))?;
        let id = id_of(&made);
        fs::rename(&made, path)?;
        Ok((Listener::Unix(listener), id))
    };
    let listening = listen();
    let _ = fs::remove_file(folder.join("s"));
    let _ = fs::remove_dir(&folder);
    listening
}

#[cfg(not(unix))]
fn unix_listener(_: &Path, _: u32) -> Result<(Listener, FileId)> {
    bail!("this system has no unix sockets; use an address with a port")
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_socket_of_a_server_that_came_later_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listen = async || Listening::at("--spamd", &Address::Unix(path.clone()), 0o600).await;
        let first = listen().await.unwrap();
        std::fs::remove_file(&path).unwrap();
        let second = listen().await.unwrap();
        drop(first);
        assert!(path.exists());
        drop(second);
        assert!(!path.exists());
    }
}
