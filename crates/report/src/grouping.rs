//! Which signals share a panel, on pages as in pictures: those of one unit whose sizes do not differ so much that some would
//! look flat, and not too many.

/// What has to be known of a signal.
#[derive(Clone, Copy, Debug)]
pub struct SignalTraits<'a> {
    /// `room` of `room.temperature`.
    pub part: &'a str,
    /// Its unit; empty if it has none.
    pub unit: &'a str,
    /// There is nothing between its values.
    pub is_discrete: bool,
    /// Least and greatest value.
    pub range: (f64, f64),
}

impl<'a> SignalTraits<'a> {
    /// Of a signal `part.port` with these points.
    pub fn new(name: &'a str, unit: &'a str, is_discrete: bool, points: &[(f64, f64)]) -> Self {
        let values = points.iter().map(|(_, y)| *y).filter(|y| y.is_finite());
        let range = values.fold(None, |range: Option<(f64, f64)>, y| {
            Some(range.map_or((y, y), |(low, high)| (low.min(y), high.max(y))))
        });
        let part = name.split('.').next().unwrap_or_default();
        Self { part, unit, is_discrete, range: range.unwrap_or_default() }
    }
}

/// How many times larger than what its smallest signal takes a panel may be, where units say that signals belong together.
const FAR_WITH_UNIT: f64 = 50.0;
/// The same where nothing says so: 20 degC would lie flat under 4000 W.
const FAR: f64 = 12.0;
/// More curves than this are told apart by the parts they come from.
const MOST_CURVES: usize = 6;
/// More curves of one part than this are cut into portions: their colours have come back once by then.
const MOST_OF_A_PART: usize = 12;

/// The signals of each panel, in the order in which they are given.
pub fn panels(signals: &[SignalTraits<'_>]) -> Vec<Vec<usize>> {
    let mut panels = Vec::new();
    for alike in split_by(0..signals.len(), |k| (signals[k].unit, signals[k].is_discrete)) {
        let far = if signals[alike[0]].unit.is_empty() { FAR } else { FAR_WITH_UNIT };
        for group in by_size(&alike, signals, far) {
            match group.len() > MOST_CURVES {
                true => panels.extend(portions(split_by(group, |k| signals[k].part))),
                false => panels.push(group),
            }
        }
    }
    panels.sort_by_key(|panel| panel[0]);
    panels
}

/// No group with too many members.
fn portions(groups: Vec<Vec<usize>>) -> impl Iterator<Item = Vec<usize>> {
    let cut = |group: Vec<usize>| group.chunks(MOST_OF_A_PART).map(<[usize]>::to_vec).collect::<Vec<_>>();
    groups.into_iter().flat_map(cut)
}

/// Whether a signal goes from one to another of a few values and rests there, as that of a relay does.
pub fn switches(points: &[(f64, f64)]) -> bool {
    const FEW: usize = 6;
    let mut values: Vec<f64> = Vec::new();
    for (_, y) in points {
        if !values.contains(y) {
            values.push(*y);
        }
        if values.len() > FEW || !y.is_finite() {
            return false;
        }
    }
    let changes = points.windows(2).filter(|pair| pair[0].1 != pair[1].1).count();
    changes > 0 && points.len() > 3 * values.len() && 2 * changes < points.len()
}

/// Groups with the same key, in the order of their first members.
fn split_by<K: PartialEq>(all: impl IntoIterator<Item = usize>, key: impl Fn(usize) -> K) -> Vec<Vec<usize>> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for index in all {
        let own = key(index);
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, members)) => members.push(index),
            None => groups.push((own, vec![index])),
        }
    }
    groups.into_iter().map(|(_, members)| members).collect()
}

/// Groups in which the smallest signal still takes a part of the whole that can be seen.
fn by_size(alike: &[usize], signals: &[SignalTraits<'_>], far: f64) -> Vec<Vec<usize>> {
    let span = |k: usize| signals[k].range.1 - signals[k].range.0;
    let (mut moving, still): (Vec<usize>, Vec<usize>) = alike.iter().partition(|k| span(**k) > 0.0);
    moving.sort_by(|a, b| span(*b).total_cmp(&span(*a)));
    let mut groups: Vec<Group> = Vec::new();
    for k in moving {
        let own = Group { members: vec![k], range: signals[k].range, smallest: span(k) };
        match groups.iter_mut().find(|group| group.fits(&own, far)) {
            Some(group) => group.join(own),
            None => groups.push(own),
        }
    }
    // What does not move is shown beside what it lies among.
    let mut alone: Vec<usize> = Vec::new();
    for k in still {
        let value = signals[k].range.0;
        match groups.iter_mut().find(|group| group.has_near(value)) {
            Some(group) => group.members.push(k),
            None => alone.push(k),
        }
    }
    let mut groups: Vec<Vec<usize>> = groups.into_iter().map(|group| group.members).collect();
    groups.extend((!alone.is_empty()).then_some(alone));
    groups.iter_mut().for_each(|members| members.sort_unstable());
    groups
}

struct Group {
    members: Vec<usize>,
    range: (f64, f64),
    /// The smallest span of its members.
    smallest: f64,
}

impl Group {
    fn union(&self, other: &Self) -> (f64, f64) {
        (self.range.0.min(other.range.0), self.range.1.max(other.range.1))
    }

    fn fits(&self, other: &Self, far: f64) -> bool {
        let (low, high) = self.union(other);
        high - low <= far * self.smallest.min(other.smallest)
    }

    fn join(&mut self, other: Self) {
        self.range = self.union(&other);
        self.smallest = self.smallest.min(other.smallest);
        self.members.extend(other.members);
    }

    /// Whether a value lies in the range, or half of it above or below.
    fn has_near(&self, value: f64) -> bool {
        let room = 0.5 * (self.range.1 - self.range.0);
        (self.range.0 - room..=self.range.1 + room).contains(&value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(part: &'static str, unit: &'static str, range: (f64, f64)) -> SignalTraits<'static> {
        SignalTraits { part, unit, is_discrete: false, range }
    }

    #[test]
    fn degrees_do_not_lie_flat_under_watts() {
        let room = [
            signal("room", "", (18.0, 22.0)),
            signal("heater", "", (0.0, 4000.0)),
            signal("room", "", (17.0, 20.0)),
        ];
        assert_eq!(panels(&room), [vec![0, 2], vec![1]]);
    }

    #[test]
    fn units_come_first_and_hold_together() {
        let signals =
            [signal("a", "m", (0.0, 1.0)), signal("b", "m", (0.0, 0.05)), signal("a", "N", (0.0, 1.0))];
        assert_eq!(panels(&signals), [vec![0, 1], vec![2]]);
        let far = [signal("a", "Pa", (0.0, 1e5)), signal("b", "Pa", (0.0, 10.0))];
        assert_eq!(panels(&far), [vec![0], vec![1]]);
    }

    #[test]
    fn constants_go_where_they_lie() {
        let signals =
            [signal("a", "", (5.0, 5.0)), signal("b", "", (0.0, 10.0)), signal("c", "", (1e6, 1e6))];
        assert_eq!(panels(&signals), [vec![0, 1], vec![2]]);
        assert_eq!(panels(&signals[..1]), [vec![0]]);
    }

    #[test]
    fn many_curves_are_told_apart_by_parts() {
        let parts = ["a", "b"];
        let signals: Vec<_> = (0..8).map(|k| signal(parts[k % 2], "m", (0.0, 1.0))).collect();
        assert_eq!(panels(&signals), [vec![0, 2, 4, 6], vec![1, 3, 5, 7]]);
        let one: Vec<_> = (0..25).map(|_| signal("a", "m", (0.0, 1.0))).collect();
        assert_eq!(panels(&one).iter().map(Vec::len).collect::<Vec<_>>(), [12, 12, 1]);
    }

    #[test]
    fn switches_have_a_panel_of_their_own() {
        let switch = SignalTraits { is_discrete: true, ..signal("a", "", (0.0, 1.0)) };
        assert_eq!(panels(&[signal("a", "", (0.0, 1.0)), switch]), [vec![0], vec![1]]);
    }

    #[test]
    fn relays_are_told_from_curves() {
        let points = |value: fn(usize) -> f64| (0..100).map(|k| (k as f64, value(k))).collect::<Vec<_>>();
        assert!(switches(&points(|k| if k / 10 % 2 == 0 { 4000.0 } else { 0.0 })));
        assert!(switches(&points(|k| if k < 90 { 0.0 } else { 1.0 })));
        assert!(!switches(&points(|_| 20.0)), "a constant");
        assert!(!switches(&points(|k| k as f64)), "a ramp");
        assert!(!switches(&points(|k| (k % 2) as f64)), "from point to point");
        assert!(!switches(&[(0.0, 0.0), (1.0, 1.0)]), "too few to tell");
    }
}
