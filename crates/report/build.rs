//! Packs the script of the plot library for pages: compressed, as browsers unpack it, and as text.

use std::io::Write;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let scripts = plotly::Plot::offline_js_sources();
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(first_script(&scripts).as_bytes()).expect("memory takes everything");
    let text = STANDARD.encode(packed.finish().expect("memory takes everything"));
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where"));
    std::fs::write(folder.join("plotly.txt"), text).expect("the folder of the build can be written");
}

/// The plot library is the first of its scripts; the second one sets formulas, which pages have none of.
fn first_script(scripts: &str) -> &str {
    let script = scripts.split_once('>').and_then(|(_, rest)| rest.split_once("</script>"));
    let (script, _) = script.expect("the plot library has a script");
    assert!(script.trim_start().starts_with("/**\n* plotly.js v"), "the first script is another one");
    script
}
