//! What an FMU may cost before it is refused.

/// Limits of archive and model description. The default is beyond what FMUs need and far below what harms;
/// raise a field for an FMU that is known to be good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Unpacked size of all entries together, in bytes.
    pub total_size: u64,
    /// Number of entries of the archive.
    pub entries: usize,
    /// Unpacked size over packed size, for each entry and for all together.
    pub ratio: u64,
    /// Up to this unpacked size the ratio is not looked at, in bytes.
    pub ratio_floor: u64,
    /// Size of the model description, in bytes.
    pub document: u64,
    /// Size of one tag with its attributes, one text or one comment of the model description, in bytes.
    pub token: usize,
    /// Depth of nested elements.
    pub depth: usize,
    /// Number of variables.
    pub variables: usize,
    /// Number of units, of types, of items of an enumeration and so on.
    pub list: usize,
    /// Number of elements of all array variables together.
    pub elements: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            total_size: 4 << 30,
            entries: 20_000,
            ratio: 200,
            ratio_floor: 1 << 20,
            document: 512 << 20,
            token: 16 << 20,
            depth: 128,
            variables: 10_000_000,
            list: 1_000_000,
            elements: 100_000_000,
        }
    }
}

impl Limits {
    /// Whether so much may come out of so little.
    pub(crate) fn allows_ratio(&self, packed: u64, unpacked: u64) -> bool {
        unpacked <= self.ratio_floor || unpacked <= packed.saturating_mul(self.ratio)
    }
}
