//! Messages of FMUs, kept per instance.
//!
//! In FMI 1 and 2 they are C formats with arguments, which `logger.c` makes texts of, and name variables by their
//! references.
#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use costep_core::Code;
use costep_fmu_file::{FmiVersion, ModelDescription, VariableType};

use crate::call::ffi2::costep_logger;
use crate::call::live;
use crate::notice::{Notice, tell};
use crate::trace::MessageSlot;

/// Messages kept of an instance; older ones are dropped.
const KEPT: usize = 64;
/// Bytes kept of a message.
const TEXT_LIMIT: usize = 2_000;
/// Bytes kept of a category.
const CATEGORY_LIMIT: usize = 100;

/// How a call ended, or how grave a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// All well.
    Ok,
    /// Worth a look; the computation goes on.
    Warning,
    /// Not done; nothing is lost.
    Discard,
    /// This instance cannot go on.
    Error,
    /// No instance of the FMU can go on.
    Fatal,
    /// Still being computed (FMI 1 and 2).
    Pending,
    /// A number the standard does not know.
    Unknown(i32),
}

impl Status {
    /// A word for people and for JSON.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Discard => "discard",
            Self::Error => "error",
            Self::Fatal => "fatal",
            Self::Pending => "pending",
            Self::Unknown(_) => "unknown",
        }
    }

    /// The status of a number of the standard.
    pub fn from_raw(raw: c_int) -> Self {
        match raw {
            0 => Self::Ok,
            1 => Self::Warning,
            2 => Self::Discard,
            3 => Self::Error,
            4 => Self::Fatal,
            5 => Self::Pending,
            other => Self::Unknown(other),
        }
    }
}

/// A message of an FMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// How grave it is.
    pub status: Status,
    /// Its category, one of those in the model description.
    pub category: String,
    /// Its text.
    pub text: String,
}

/// A text on one line, as all causes are.
pub(crate) fn one_line(text: &str) -> String {
    text.lines().map(str::trim).collect::<Vec<_>>().join(" ")
}

/// Where the messages of one instance go. FMUs may log from threads of their own.
#[derive(Debug, Default)]
pub(crate) struct LogSink {
    /// Name of the instance.
    instance: String,
    ring: Mutex<Ring>,
    shown: Option<MessageSlot>,
    /// The FMU has handed over another environment than it was given, which has been said.
    strange: AtomicBool,
    /// What the FMU says about itself.
    fmu: Option<Arc<ModelDescription>>,
}

#[derive(Debug, Default)]
struct Ring {
    messages: VecDeque<Message>,
    total: u64,
}

impl LogSink {
    /// A sink whose last message is shown to whoever watches this process.
    pub(crate) fn showing(instance: &str, messages: MessageSlot, fmu: Arc<ModelDescription>) -> Self {
        let instance = instance.to_owned();
        Self { instance, shown: Some(messages), fmu: Some(fmu), ..Self::default() }
    }

    /// In FMI 1 FMUs hand over their component in the place of an environment.
    fn hands_components(&self) -> bool {
        self.fmu.as_ref().is_some_and(|fmu| fmu.fmi_version == FmiVersion::V1)
    }

    /// A text of FMI 1 or 2 with the names of the variables in the place of their references.
    fn with_names(&self, text: String) -> String {
        match &self.fmu {
            Some(fmu) if fmu.fmi_version != FmiVersion::V3 && text.contains('#') => with_names(&text, fmu),
            _ => text,
        }
    }

    /// Name of the instance.
    pub(crate) fn instance(&self) -> &str {
        &self.instance
    }

    /// Says once that the FMU hands over another environment than it was given.
    fn note_strange(&self) {
        if !self.strange.swap(true, Ordering::Relaxed) {
            let text = "its messages come with another environment than it was given, which is not looked at";
            let category = Code::ForeignEnvironment.entry().id.into();
            let message = Message { status: Status::Warning, category, text: text.into() };
            tell(&self.instance, Notice::Logged(&message));
        }
    }

    fn add(&self, message: Message) {
        tell(&self.instance, Notice::Logged(&message));
        if let Some(shown) = &self.shown {
            match message.category.as_str() {
                "" => shown.show(&message.text),
                category => shown.show(&format!("[{category}] {}", message.text)),
            }
        }
        let mut ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        if ring.messages.len() == KEPT {
            ring.messages.pop_front();
        }
        ring.messages.push_back(message);
        ring.total += 1;
    }

    /// The messages that are kept, the oldest first.
    pub(crate) fn messages(&self) -> Vec<Message> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner).messages.iter().cloned().collect()
    }

    /// How many there were, those dropped included.
    pub(crate) fn total(&self) -> u64 {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    /// The text of the last message.
    pub(crate) fn last(&self) -> Option<String> {
        let ring = self.ring.lock().unwrap_or_else(PoisonError::into_inner);
        ring.messages.back().map(|message| message.text.clone())
    }
}

/// Keeps a message of FMI 1 or 2, whose text `logger.c` has formatted. FMI 1 has the component of the FMU in the
/// place of an environment.
///
/// # Safety
/// Texts are null or end with a zero byte.
#[unsafe(no_mangle)]
unsafe extern "C" fn costep_keep_message(
    environment: *mut c_void,
    instance: *const c_char,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: by the contract of this function.
    unsafe { keep((environment, instance), status, category, message) }
}

/// The logger of FMI 3.
///
/// # Safety
/// As for [`costep_keep_message`].
pub(crate) unsafe extern "C" fn log3(
    environment: *mut c_void,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: by the contract of this function.
    unsafe { keep((environment, std::ptr::null()), status, category, message) }
}

/// Keeps a message with the instance that it is of. One of which nobody can tell whose it is, is told all
/// the same.
///
/// # Safety
/// As for [`costep_keep_message`].
unsafe fn keep(
    (environment, instance): (*mut c_void, *const c_char),
    status: c_int,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: by the contract of this function.
    let (name, category, text) = unsafe {
        (text(instance, CATEGORY_LIMIT), text(category, CATEGORY_LIMIT), text(message, TEXT_LIMIT))
    };
    let mut message = Message { status: Status::from_raw(status), category, text };
    match live::find(environment, &name) {
        Some((sink, is_known)) => {
            if !is_known && !sink.hands_components() {
                sink.note_strange();
            }
            message.text = sink.with_names(message.text);
            sink.add(message);
        }
        None => tell(&name, Notice::Logged(&message)),
    }
}

/// What a message of FMI 2 with this format is shown as, whatever the format makes of the arguments: for tests of formats
/// that are not meant well.
#[doc(hidden)]
pub fn formatted_with_any_arguments(format: &CStr) -> Option<String> {
    let sink = &Arc::new(LogSink { instance: "formats".into(), ..LogSink::default() });
    let environment = Arc::as_ptr(sink).cast_mut().cast();
    live::enter(environment, sink);
    let (name, place) = (c"formats".as_ptr(), std::ptr::without_provenance::<c_char>(4096));
    // SAFETY: the sink lives, and the format ends with a zero byte. Arguments of other types than the format asks for are
    // what the logger is made for: it follows no address, and writes nowhere.
    unsafe {
        costep_logger(
            environment,
            name,
            0,
            name,
            format.as_ptr(),
            7,
            2.5,
            name,
            -3_i64,
            place,
            1e300,
            0,
            name,
        );
    }
    live::leave(environment);
    sink.last()
}

/// Puts names in the place of references such as `#r123#`; `##` stands for `#`.
fn with_names(text: &str, fmu: &ModelDescription) -> String {
    let (mut named, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('#') {
        named += before;
        let name = after.split_once('#').and_then(|(inside, behind)| {
            let kind = match inside.get(..1)? {
                "r" => VariableType::Float64,
                "i" => VariableType::Int32,
                "b" => VariableType::Boolean,
                "s" => VariableType::String,
                _ => return None,
            };
            let variable = fmu.by_value_reference(kind, inside[1..].parse().ok()?)?;
            Some((fmu.variables()[variable].name.as_str(), behind))
        });
        let (word, behind) = name.unwrap_or(("#", after.strip_prefix('#').unwrap_or(after)));
        named += word;
        rest = behind;
    }
    named + rest
}

/// A text of C, as far as it is kept. Nothing behind the limit is read.
///
/// # Safety
/// `start` is null, or readable up to a zero byte or the limit.
pub(crate) unsafe fn text(start: *const c_char, limit: usize) -> String {
    if start.is_null() {
        return String::new();
    }
    let mut length = 0;
    // SAFETY: no zero byte came so far, so by the contract this one is readable.
    while length < limit && unsafe { *start.add(length) } != 0 {
        length += 1;
    }
    // SAFETY: these bytes have just been read.
    let bytes = unsafe { std::slice::from_raw_parts(start.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_bounded() {
        let sink = &Arc::new(LogSink { instance: "talkative".into(), ..LogSink::default() });
        let environment = Arc::as_ptr(sink).cast_mut().cast();
        live::enter(environment, sink);
        let long = std::ffi::CString::new(vec![b'x'; 3 * TEXT_LIMIT]).unwrap();
        for _ in 0..1_000 {
            // SAFETY: the sink lives and the texts end with a zero byte.
            unsafe { log3(environment, 3, c"logStatusError".as_ptr(), long.as_ptr()) };
        }
        // SAFETY: as above.
        unsafe { costep_logger(environment, c"a".as_ptr(), 1, std::ptr::null(), c"%q \xff\n".as_ptr()) };
        assert_eq!((sink.messages().len(), sink.total()), (KEPT, 1_001));
        assert_eq!(sink.messages()[0].text.len(), TEXT_LIMIT);
        assert_eq!(sink.last().unwrap(), "%q \u{fffd}");
        assert_eq!(sink.messages()[KEPT - 1].status, Status::Warning);
        live::leave(environment);
    }

    #[test]
    fn an_environment_that_is_not_ours_is_never_followed() {
        let sinks = ["one", "two", "two"]
            .map(|name| Arc::new(LogSink { instance: name.into(), ..LogSink::default() }));
        let address = |k: usize| Arc::as_ptr(&sinks[k]).cast_mut().cast::<c_void>();
        (0..3).for_each(|k| live::enter(address(k), &sinks[k]));
        live::name_handle(address(1), std::ptr::without_provenance(16));
        let log = |pointer: usize, name: &std::ffi::CStr| {
            let pointer = std::ptr::without_provenance_mut(pointer);
            // SAFETY: the texts end with a zero byte; the pointer is one of nobody.
            unsafe { costep_logger(pointer, name.as_ptr(), 0, std::ptr::null(), c"hello".as_ptr()) };
            [0, 1, 2].map(|k| sinks[k].total())
        };
        assert_eq!(log(8, c"one"), [1, 0, 0]);
        assert_eq!(log(0, c"two"), [1, 0, 1], "the latest");
        assert_eq!(log(16, c"two"), [1, 1, 1], "by its component");
        assert_eq!(log(16, c"none of them"), [1, 2, 1]);
        assert_eq!(log(24, c"none of them"), [1, 2, 1], "nobody's");
        (0..3).for_each(|k| live::leave(address(k)));
    }

    /// What a message of FMI 2 is shown as.
    macro_rules! formatted {
        ($format:literal $(, $argument:expr)*) => {{
            let sink = &Arc::new(LogSink { instance: "formats".into(), ..LogSink::default() });
            let environment = Arc::as_ptr(sink).cast_mut().cast();
            live::enter(environment, sink);
            // SAFETY: the sink lives, and texts end with a zero byte.
            unsafe {
                costep_logger(environment, c"formats".as_ptr(), 0, c"all".as_ptr(), $format.as_ptr() $(, $argument)*)
            };
            live::leave(environment);
            sink.last().unwrap()
        }};
    }

    #[test]
    fn formats_are_filled_in() {
        let name = c"tank".as_ptr();
        assert_eq!(formatted!(c"plain, 100 %% of it"), "plain, 100 % of it");
        assert_eq!(formatted!(c"%s: level %g m in step %d", name, 0.25, 7), "tank: level 0.25 m in step 7");
        assert_eq!(
            formatted!(c"[%-6s|%6.2f|%+05d|%x|%c]", name, 2.71, 42, 255, 65),
            "[tank  |  2.71|+0042|ff|A]"
        );
        assert_eq!(formatted!(c"%*.*f %.2s", 8, 3, 2.5, name), "   2.500 ta");
        assert_eq!(formatted!(c"%lu %lld %zu %ld", 1_u64, -2_i64, 3_usize, -4_i64), "1 -2 3 -4");
        assert_eq!(formatted!(c"%e after %i of %u", 1e-3, 1, 2_u32), "1.000000e-03 after 1 of 2");
        assert_eq!(formatted!(c"%.*d %*d|", -1, 5, -3, 6), "5 6  |");
    }

    #[test]
    fn formats_that_are_wrong_do_no_harm() {
        let mut target = 5_u64;
        let place = &raw mut target;
        assert_eq!(formatted!(c"%n%hhn%s", place, place, c"end".as_ptr()), "%n%hhnend");
        assert_eq!(target, 5, "nothing is written");
        let nowhere = std::ptr::without_provenance::<c_char>(4096);
        assert_eq!(formatted!(c"%s and %s", nowhere, std::ptr::null::<c_char>()), "%s and (null)");
        assert_eq!(formatted!(c"%ls %d", c"wide".as_ptr(), 3), "%ls 3");
        assert_eq!(formatted!(c"%y %d", 3), "%y %d", "what follows is not known");
        assert_eq!(formatted!(c"%999999999d %d", 3, 4), "%999999999d %d");
        assert_eq!(formatted!(c"ends with %"), "ends with %");
        assert_eq!(formatted!(c"%-+ #0-+ #0-+5.3ld|", 7_i64), "+007 |");
        // More arguments than there are: something is shown.
        formatted!(c"%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s");
        formatted!(c"%d%f%Lf%p%s%n%c%llx%d%f%Lf%p%s%n%c%llx%d%f%Lf%p%s%n%c%llx%d%f%Lf%p%s%n%c%llx");
        let long = std::ffi::CString::new(vec![b'y'; 3 * TEXT_LIMIT]).unwrap();
        assert_eq!(formatted!(c"%s", long.as_ptr()).len(), TEXT_LIMIT);
        assert_eq!(formatted!(c"%500f", 1e300).len(), 500);
    }

    #[test]
    fn references_become_names() {
        let text = r#"<fmiModelDescription fmiVersion="2.0" modelName="m" guid="g"><CoSimulation modelIdentifier="m"/>
            <ModelVariables>
            <ScalarVariable name="level" valueReference="7" causality="output"><Real/></ScalarVariable>
            <ScalarVariable name="open" valueReference="7"><Boolean/></ScalarVariable>
            </ModelVariables><ModelStructure/></fmiModelDescription>"#;
        let fmu = ModelDescription::parse(text).unwrap();
        for (text, named) in [
            ("#r7# is too high, #b7#", "level is too high, open"),
            ("a ## b #", "a # b #"),
            ("#r8# #i7# #x7# #r# #r7", "#r8# #i7# #x7# #r# #r7"),
            ("####r7##", "##r7#"),
            ("#", "#"),
        ] {
            assert_eq!(with_names(text, &fmu), named);
        }
    }
}
