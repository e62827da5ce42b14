//! CPU time of this process and of its children, as Linux counts it: it depends little on what else a machine does.

/// In s, of all threads of this process.
pub fn of_this_process() -> f64 {
    ticks(11)
}

/// In s, of all processes that this one has started and that have ended.
pub fn of_children() -> f64 {
    ticks(13)
}

/// Two fields behind the name, in hundredths of a second: in user mode and in the kernel.
fn ticks(first: usize) -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("Linux");
    let (_, fields) = stat.rsplit_once(") ").expect("a name in parentheses");
    let ticks = fields.split(' ').skip(first).take(2).map(|field| field.parse::<f64>().expect("a number"));
    ticks.sum::<f64>() / 100.0
}
