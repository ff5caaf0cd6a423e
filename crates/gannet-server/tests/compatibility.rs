//! The list of routes in the documentation is that of the table.

use std::path::Path;

use gannet_server::compatibility;

const BEGIN: &str = "<!-- routes -->\n";
const END: &str = "<!-- end of routes -->";

#[test]
fn the_documentation_lists_the_routes_that_there_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/compatibility.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (listed, after) = rest.split_once(END).unwrap();
    let table = compatibility();
    if std::env::var_os("WRITE_DOCS").is_some() {
        std::fs::write(&path, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
        return;
    }
    assert!(
        listed == table,
        "docs/compatibility.md has other routes than the table: `WRITE_DOCS=1 cargo test --package gannet-server \
         compatibility` writes them"
    );
}
