//! The store of `crivo mail` with other users on the machine, on a full disk, and with damage.

use serde_json::Value;

use crate::mail::{check, message, trained};

#[cfg(unix)]
#[test]
fn exports_are_as_private_as_the_store() {
    use std::os::unix::fs::PermissionsExt;
    let (scratch, _) = trained();
    let mode = |name: &str| std::fs::metadata(scratch.path(name)).unwrap().permissions().mode() & 0o777;
    scratch.run(&["mail", "export", "--store", "s", "all.exp"]).ok();
    assert_eq!((mode("s/mail.sqlite"), mode("all.exp")), (0o600, 0o600));
}

/// A process that cannot write to any file behaves as on a full disk: reading still works.
#[cfg(unix)]
#[test]
fn a_full_disk_does_not_keep_mail_from_being_judged() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, true);
    let (expected, report) = check(&scratch, &mail);
    scratch.write("mail.eml", &mail);
    let limited = |arguments: &str| {
        let script = format!("trap '' XFSZ; ulimit -f 0; exec \"$0\" mail {arguments} --store s < mail.eml");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script, env!("CARGO_BIN_EXE_crivo")]).current_dir(scratch.path("."));
        command.output().unwrap()
    };
    let judged = limited("check --json");
    assert_eq!(judged.status.code(), expected, "{judged:?}");
    let found: Value = serde_json::from_slice(&judged.stdout).unwrap();
    assert_eq!((&found["score"], &found["verdict"]), (&report["score"], &report["verdict"]));
    let refused = limited("learn spam");
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert_eq!(check(&scratch, &mail).1, report, "nothing was learned, and nothing is damaged");
}

#[test]
fn a_store_with_damaged_derived_records_is_exported_and_repaired() {
    let (scratch, mut random) = trained();
    let mail = message(&mut random, true);
    let expected = check(&scratch, &mail);
    scratch.run(&["mail", "export", "--store", "s", "before.exp"]).ok();
    // The weights are most of the file. So a changed byte near the end of the file is in the
    // weights or the buckets.
    let (path, whole) = (scratch.path("s/mail.sqlite"), scratch.read("s/mail.sqlite"));
    let damaged = (1..40).map(|part| whole.len() / 40 * part).find(|&at| {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        std::fs::write(&path, bytes).unwrap();
        let refused = scratch.feed(&["mail", "check", "--store", "s"], &mail).code == Some(3);
        refused && scratch.run(&["mail", "export", "--store", "s", "after.exp"]).code == Some(0)
    });
    assert!(damaged.is_some(), "no byte of derived records was found");
    assert!(scratch.read("before.exp") == scratch.read("after.exp"), "an export has every message");
    assert_eq!(scratch.run(&["mail", "repair", "--store", "s"]).ok(), "derived anew from 120 messages\n");
    assert_eq!(check(&scratch, &mail), expected);
}
