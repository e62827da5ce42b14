//! The table of error codes. One line here gives a code its name, its exit class, its title and the long
//! text of `costep explain`; nothing else has to be touched to add one.
//!
//! Ranges: `E02` projects and command line, `E03` coupling methods, `E04` subsystems while running,
//! `E05` recordings and checkpoints, `E06` guards of the run, `E09` bugs of costep.

/// What the exit code of the program is after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitClass {
    /// Bad input: file, option, name, unit. Exit code 1.
    Input,
    /// A subsystem failed. Exit code 2.
    Model,
    /// The run diverged or missed its tolerance. Exit code 3.
    Diverged,
    /// A time limit was reached. Exit code 4.
    TimeLimit,
    /// A bug of costep. Exit code 5.
    Bug,
    /// The user stopped the run. Exit code 130.
    Stopped,
}

impl ExitClass {
    /// The exit code of the process.
    pub fn code(self) -> u8 {
        match self {
            Self::Input => 1,
            Self::Model => 2,
            Self::Diverged => 3,
            Self::TimeLimit => 4,
            Self::Bug => 5,
            Self::Stopped => 130,
        }
    }
}

/// One row of the table of error codes.
#[derive(Debug)]
pub struct CodeEntry {
    /// The stable identifier, `E0203`.
    pub id: &'static str,
    /// Which exit code it leads to.
    pub exit: ExitClass,
    /// A few words.
    pub title: &'static str,
    /// What it means and what to do about it.
    pub explanation: &'static str,
}

macro_rules! codes {
    ($($id:ident $name:ident $exit:ident $title:literal $explanation:literal)*) => {
        /// A stable error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code { $(#[doc = $title] $name),* }

        /// Every code, in the order of the table.
        pub static CODES: &[CodeEntry] = &[$(CodeEntry {
            id: stringify!($id), exit: ExitClass::$exit, title: $title, explanation: $explanation,
        }),*];
    };
}

codes! {
    E0200 CommandLine Input "the command line is not understood"
        "A flag, its value or a combination of flags is not possible. `costep help` and `costep help VERB` list what is."
    E0201 FileNotReadable Input "a file cannot be read or written"
        "The operating system refused to open, read or write the file. The cause is its own message."
    E0202 Syntax Input "the project file is not valid TOML"
        "The file stops being TOML at the place shown. Strings need quotes: `size = \"5 ms\"`."
    E0203 UnknownPort Input "a connection names a port that does not exist"
        "Ports are written `subsystem.port`. `costep models ID` lists the ports of a built-in model."
    E0204 UnknownKey Input "a key is not known here"
        "costep refuses keys it does not know, so that a misspelt option is never ignored silently."
    E0205 BadValue Input "a value is of the wrong type or out of range"
        "The message names the key, the value and what is allowed."
    E0206 BadQuantity Input "a quantity cannot be read"
        "Quantities are a number and a unit, as in `5 ms`, `0.1s` or `1e-3`; a bare number is in SI units."
    E0207 UnknownModel Input "the system is neither a built-in model nor a project file"
        "`costep models` lists the built-in models; a project is a TOML file or a folder with a system.toml."
    E0208 UnknownParameter Input "the model has no such parameter"
        "`costep models ID` lists the parameters of a model with their values and units."
    E0209 DoubleSource Input "an input is connected twice"
        "Two connections end at the same input. Write `sum = true` in each of them if their sum is wanted."
    E0210 UnconnectedInput Input "an input has no source"
        "Connect it, or give it a constant: `[[external]] to = \"subsystem.port\" value = 0`."
    E0211 UnitMismatch Input "units differ"
        "The two ends of a connection have different units. Give the factor by `gain`, then the units are not compared."
    E0212 Missing Input "something required is missing"
        "The message names the table and the key."
    E0213 Duplicate Input "a name is used twice"
        "Names of subsystems, groups and connections' targets are unique."
    E0214 Conflict Input "two settings exclude each other"
        "Each of them is possible alone. The message names both; remove one."
    E0215 UnknownName Input "a name is not known here"
        "Something refers to a part, group or subsystem that does not exist. The nearest names are listed."
    E0301 UnknownMethod Input "the coupling method does not exist"
        "`costep methods` lists all coupling methods."
    E0302 UnknownOption Input "the coupling method has no such option"
        "`costep methods ID` lists the options of a method."
    E0303 BadOption Input "a method option has a wrong value"
        "`costep methods ID` lists type, range and default of every option."
    E0304 NeedsMissing Input "a subsystem lacks what the coupling method needs"
        "Each method says what it needs (`costep methods ID`): rollback, input derivatives, a local model, micro samples."
    E0305 AlgebraicLoop Input "outputs depend on themselves without delay"
        "A loop of connections passes straight through every subsystem on it, so that the outputs are the solution of an equation. The monolithic reference and the initial values need the loop to be free of this, or solvable."
    E0401 SubsystemFailed Model "a subsystem reported an error"
        "The subsystem, its call and the time are named. Everything recorded before is kept."
    E0402 NotFinite Model "a signal became NaN or infinite"
        "The value was stopped before it reached another subsystem. A coupling step beyond its stability limit is the usual cause: try a smaller step or another method."
    E0403 TimeNotReached Model "a subsystem did not reach the end of the step"
        "It reported success, but its time is not the one asked for."
    E0404 StepTooSmall Model "an integrator cannot meet its tolerance"
        "The inner step size fell to round-off level. The system may be discontinuous or too stiff for this integrator."
    E0501 NotARecording Input "the file is not a costep recording"
        "Recordings are Arrow IPC streams written by `costep run`."
    E0502 RecordingDamaged Input "the recording is damaged"
        "The rows before the damage can still be read and exported."
    E0503 RecordingFailed Model "the recording cannot be written"
        "Disk full, folder removed or read-only. The rows written before are valid."
    E0504 CheckpointDamaged Input "the checkpoint is damaged"
        "Its check sum does not match. The previous checkpoint is used if there is one."
    E0505 CheckpointForeign Input "the checkpoint belongs to another run"
        "Resuming needs the same system, parameters, method and step. The differing item is named."
    E0506 UnknownColumn Input "the recording has no such column"
        "`costep export FILE --list` shows the columns."
    E0601 Diverged Diverged "the run diverged"
        "A signal left its bounds, or grew beyond the limit relative to its nominal value. The coupling is unstable at this step: try a smaller step or another method (`costep compare`)."
    E0602 OutOfBounds Diverged "a signal left the bounds given in [guard]"
        "The run stopped at the first value outside the bounds."
    E0603 TimeLimit TimeLimit "the time limit was reached"
        "The run was stopped after the wall time given by --time-limit. Everything recorded is kept."
    E0604 Stopped Stopped "the run was stopped"
        "Ctrl-C or a termination signal. The step was finished and everything recorded is kept."
    E0605 Repeats Diverged "the coupling method did not converge"
        "An iterative method asked for more repetitions of a step than allowed."
    E0901 Bug Bug "a bug of costep"
        "This should not happen. Please report it with the command and the project file."
}

impl Code {
    /// Its row in the table.
    pub fn entry(self) -> &'static CodeEntry {
        &CODES[self as usize]
    }

    /// The row with this identifier, in any case.
    pub fn find(id: &str) -> Option<&'static CodeEntry> {
        CODES.iter().find(|entry| entry.id.eq_ignore_ascii_case(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_sorted() {
        assert!(CODES.windows(2).all(|pair| pair[0].id < pair[1].id));
    }

    #[test]
    fn a_code_finds_its_own_row() {
        assert_eq!(Code::UnknownPort.entry().id, "E0203");
        assert_eq!(Code::find("e0203").map(|entry| entry.title), Some(Code::UnknownPort.entry().title));
    }
}
