//! Rebuilds the embedded web app when its build changed. Never runs npm: with no built app the
//! binary embeds a page that says how to build it.

fn main() {
    println!("cargo::rerun-if-changed=../../web/build");
}
