//! `crivo man`.

use crate::support::Scratch;

#[test]
fn every_command_has_a_page_with_its_options_and_examples() {
    let scratch = Scratch::new();
    scratch.run(&["man", "new/pages"]).ok();
    let commands = "distinct top freq ask count sample uniq merge show plan plan-bloom set set-build set-has set-keep \
                    set-drop set-union set-intersect set-subtract private private-encode profile completions man";
    for command in commands.split(' ') {
        let page = String::from_utf8(scratch.read(&format!("new/pages/crivo-{command}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS") && page.contains("Examples"), "{command}: {page}");
    }
    let front = String::from_utf8(scratch.read("new/pages/crivo.1")).unwrap();
    assert!(front.contains("crivo\\-distinct(1)") && front.contains("Exit codes"), "{front}");
}

#[test]
fn folder_that_cannot_be_made_is_named() {
    let scratch = Scratch::with([("file", "")]);
    scratch.run(&["man", "file"]).fails_with("file: is a file: name a folder");
    scratch.run(&["man", "file/pages"]).fails_with("file/pages: cannot be created");
}
