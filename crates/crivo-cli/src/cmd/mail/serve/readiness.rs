//! How does the service manager know that the server is ready? systemd's protocol: one datagram.

/// Tells systemd a state, if it started this process and wants to know (`NOTIFY_SOCKET`).
#[cfg(target_os = "linux")]
pub(super) fn notify(state: &str) {
    use std::os::linux::net::SocketAddrExt;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::net::{SocketAddr, UnixDatagram};

    let Some(path) = std::env::var_os("NOTIFY_SOCKET") else { return };
    // A name that begins with an at sign is no file.
    let address = match path.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name),
        None => SocketAddr::from_pathname(&path),
    };
    let sent = address.and_then(|address| UnixDatagram::unbound()?.send_to_addr(state.as_bytes(), &address));
    // A manager that does not listen needs no answer, and the server runs all the same.
    let _ = sent;
}

#[cfg(not(target_os = "linux"))]
pub(super) fn notify(_: &str) {}
