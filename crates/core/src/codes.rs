//! The table of error codes. One row here gives a code its name, its exit class, its title, the long text of
//! `costep explain` and a remedy; nothing else has to be touched to add one.
//!
//! Ranges: `E01` FMUs (from `E0120` on what their model description says), `E02` projects and command line,
//! `E03` coupling methods, `E04` subsystems while running, `E05` recordings and checkpoints, `E06` guards of
//! the run, `E09` bugs of costep; `W` in the place of `E` for warnings.

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
    /// What to do, in a few words: the help of an error that has no better one.
    pub remedy: &'static str,
}

macro_rules! codes {
    ($($id:ident $name:ident $exit:ident $title:literal $explanation:literal $($remedy:literal)?)*) => {
        /// A stable error code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(rustdoc::broken_intra_doc_links, reason = "titles name tables of project files, as in [guard]")]
        pub enum Code { $(#[doc = $title] $name),* }

        impl Code {
            const ALL: &'static [Self] = &[$(Self::$name),*];
        }

        /// Every code, in the order of the table.
        pub static CODES: &[CodeEntry] = &[$(CodeEntry {
            id: stringify!($id), exit: ExitClass::$exit, title: $title, explanation: $explanation,
            remedy: concat!($($remedy)?),
        }),*];
    };
}

codes! {
    E0101 NotAnFmu Input "the file is not an FMU or SSP"
        "An FMU is a zip archive with a modelDescription.xml inside, an SSP one with a SystemStructure.ssd. This file is no zip archive at all."
        "give the .fmu or .ssp file itself; `unzip -t FILE` tells whether it is a zip archive"
    E0102 ArchiveDamaged Input "the archive is damaged"
        "The FMU is a zip archive that was cut or changed: a record is missing, points outside the file, or a check sum differs. The byte at which it was noticed is named. Copy or export the FMU again."
        "copy or export the file again"
    E0103 ArchiveRefused Input "the archive holds something no FMU may hold"
        "Names that lead outside the FMU, links, encrypted or duplicate entries and headers that contradict each other are refused before anything is unpacked. Export the FMU again with a plain zip of stored or deflated files."
        "export the FMU again, as a plain zip of stored or deflated files"
    E0104 ArchiveLimit Input "the archive exceeds a limit"
        "Number of entries, unpacked size or compression ratio are beyond what FMUs need; this protects from archives made to fill memory or disk. The message names the limit."
        "export the FMU without what it does not need"
    E0105 NoModelDescription Input "the FMU has no model description"
        "The file modelDescription.xml is missing at the root of the archive. A frequent cause is zipping the folder instead of its contents."
        "zip the contents of the folder, not the folder"
    E0106 BadXml Input "a document is not well-formed XML"
        "The XML stops being readable at the line shown."
        "mend the document at the line that is named, or export it again"
    E0107 XmlRefused Input "a document holds XML that is refused"
        "Document type declarations and entities, unknown encodings, and documents beyond the limits of size and depth are refused, because they serve no purpose in an FMU or SSP except to do harm."
        "write the document in UTF-8, without DOCTYPE and entities"
    E0108 FmiVersion Input "the FMI version is not supported"
        "costep reads FMUs of FMI 2.0 and FMI 3.0. FMI 1.0 is not supported: export the FMU again for 2.0 or 3.0."
        "export the FMU again for FMI 2.0 or 3.0"
    E0109 BadDescription Input "the model description cannot be used"
        "Something without which the rest has no meaning is missing or wrong, such as a variable without a name or value reference. The line is named."
        "export the FMU again; `costep inspect FILE` lists everything that is wrong with it"
    E0110 NoBinary Input "the FMU has no binary for this platform"
        "The message lists the platforms that are in the FMU. Export it for this platform, or compile its sources."
        "export the FMU for this platform, or compile its sources"
    E0111 FmuNotLoaded Input "the shared library of the FMU cannot be loaded"
        "The operating system refused the library; the cause is its own message, often the name of another library that is missing on this machine."
        "install what the cause names; `ldd` lists the libraries that a binary needs"
    E0112 FmuSymbol Input "the shared library of the FMU lacks a function"
        "The standard requires the function that is named. The library was built for another interface or version of FMI, or its symbols are hidden."
        "export the FMU again for the interface that its model description names"
    E0113 FmuNotInstantiated Model "the FMU could not be instantiated"
        "The FMU returned no instance. Usual causes: the binary does not belong to the model description (other GUID or instantiation token), a licence or a file is missing. The last message of the FMU is shown as cause."
        "the message of the FMU names the cause, if there is one; export the FMU again if binary and model description do not belong together"
    E0114 FmuValue Input "a value does not fit the variable of the FMU"
        "Type, number of elements or range differ, or the variable cannot be set before a run. `costep inspect FILE` lists the variables of an FMU."
        "`costep inspect FILE` lists the variables of an FMU with their types"
    E0115 FmuDiscard Model "the FMU did not complete a call or a step"
        "The FMU returned Discard or returned early. The time it reached is named where it is known. A smaller step may help."
        "try a smaller step"
    E0116 FmuError Model "the FMU returned an error"
        "The call is named; the last message of the FMU is shown as cause. This instance cannot go on."
        "what the FMU said is the cause; try a smaller step, or inputs and parameters that it can cope with"
    E0117 FmuFatal Model "the FMU returned a fatal error"
        "All instances of the FMU are unusable. None of its functions is called any more, not even to free it."
        "what the FMU said is the cause; `costep check --probe` tries the FMU by itself"
    E0118 FmuPending Model "the FMU wants to compute in the background"
        "Asynchronous steps (status Pending of FMI 2) are not supported."
        "export the FMU without asynchronous steps (canRunAsynchronuously)"
    E0119 FmuInterface Input "the FMU does not offer the interface that is needed"
        "An FMU may be for Co-Simulation, Model Exchange, Scheduled Execution or several of them, and some can be instantiated only once per process."
        "`costep inspect FILE` shows which interfaces the FMU has"
    E0120 FmuDuplicate Input "a name or number of the model description is used twice"
        "Names of variables are unique; so are value references in FMI 3.0."
        "export the FMU again, each name and number once"
    E0121 FmuReference Input "the model description refers to something that does not exist"
        "An index, value reference or name in the model description has no target. The reference is ignored."
        "export the FMU again; `costep inspect FILE` lists all such places"
    E0122 FmuCausality Input "causality, variability and initial do not go together"
        "The standard has a table of the combinations that are allowed."
        "the tables of causality, variability and initial in the standard list what is allowed"
    E0123 FmuStart Input "a start value is missing or not allowed"
        "Parameters, inputs and variables with initial `exact` or `approx` need one; calculated ones and the independent variable must not have one."
        "give the variable a start value, or take it away, where the FMU is made"
    E0124 FmuRange Input "a value lies outside its range"
        "min is at most max, start lies between them, nominal values and step sizes are positive."
        "mend min, max, start or nominal where the FMU is made"
    E0125 FmuStructure Input "the model structure is wrong or incomplete"
        "ModelStructure lists every output once, the derivatives of all states, and all unknowns of the initialisation."
        "export the FMU again; `costep inspect FILE` lists all such places"
    E0126 FmuUnit Input "a unit is not defined"
        "Every unit and display unit of a variable is defined in UnitDefinitions."
        "define the unit in UnitDefinitions"
    E0127 FmuType Input "a type definition is missing or does not fit"
        "A declared type exists and is of the variable's own type; enumerations need one, with items."
        "define the type in TypeDefinitions, with the type of the variable"
    E0128 FmuSchema Input "the model description does not follow the schema"
        "An attribute cannot be read, is missing or is not known here, or an element is not where it belongs."
        "export the FMU again; `costep inspect FILE` lists all such places"
    E0129 FmuClock Input "a clock is declared wrongly"
        "The standard says which attributes each kind of clock needs and what a clocked variable may be."
        "mend the clock where the FMU is made"
    E0130 FmuName Input "a name does not follow its convention"
        "The model description promises names of a certain form (variableNamingConvention) and breaks the promise."
        "rename the variable, or declare variableNamingConvention=\"flat\""
    E0131 FmuArray Input "an array is declared wrongly"
        "Each dimension has a size or refers to a structural parameter; the number of start values is one or fits the dimensions."
        "mend the dimensions or the start values where the FMU is made"
    E0132 FmuFiles Input "the files of the FMU are not where they belong"
        "Binaries are in binaries/PLATFORM/IDENTIFIER with the platform's extension; the names of platforms differ between FMI 2.0 and 3.0."
        "put the binaries into the folders that the standard names"
    E0133 FmuCapability Input "capability flags contradict each other"
        "Some flags are of use only together with another one."
        "mend the flags where the FMU is made"
    E0134 FmuEnds Model "the FMU asked to end the simulation"
        "It does not want to go on beyond the time that is named, and the run was to. That is no failure of the FMU: everything up to there is valid and recorded up to the last communication point. A stop time that is not later (`--t-end`) makes a run that ends well."
        "`--t-end` with the time that is named makes a run that comes to its end"
    E0140 NoSystemStructure Input "the package has no system structure"
        "An SSP is a zip archive with a SystemStructure.ssd at its root. A frequent cause is zipping the folder instead of its contents."
        "zip the contents of the folder, not the folder"
    E0141 SspSchema Input "a file of the SSP does not follow the schema"
        "An element or attribute is missing, cannot be read or is not where it belongs. File, line and element are named."
        "mend the file at the line that is named, or export the SSP again"
    E0142 SspReference Input "the SSP refers to something that does not exist"
        "A file, element, connector, unit or dictionary that is named is not there. References that lead out of the package or to the network are never followed."
        "mend the name, or put what is missing into the package"
    E0143 SspUnsupported Input "the SSP uses something that is not supported"
        "Without it the result would be another one, so the system is not run. `costep inspect FILE` lists everything of this kind; docs/ssp.md has the table."
        "`costep inspect FILE` lists everything of this kind, docs/ssp.md what is supported"
    E0144 SspCycle Input "systems or connectors of the SSP form a circle"
        "A system contains itself, or connectors pass a value round without a component in between."
        "take one of the connections or systems out of the circle"
    E0145 SspUnused Input "something in the SSP has no effect here"
        "It is kept by no part of costep: graphics, meta data, annotations of other tools, parameter values without a target. The result is the same without it."
        "nothing has to be done; `costep inspect FILE` lists all of it"
    E0200 CommandLine Input "the command line is not understood"
        "A flag, its value or a combination of flags is not possible. `costep help` and `costep help VERB` list what is."
        "`costep help` lists the verbs, `costep help VERB` the flags of one"
    E0201 FileNotReadable Input "a file cannot be read or written"
        "The operating system refused to open, read or write the file. The cause is its own message."
        "see whether path, rights and free space are what they should be"
    E0202 Syntax Input "the project file is not valid TOML"
        "The file stops being TOML at the place shown. Strings need quotes: `size = \"5 ms\"`."
        "mend the file at the line that is named; text needs quotes"
    E0203 UnknownPort Input "a connection names a port that does not exist"
        "Ports are written `subsystem.port`. `costep models ID` lists the ports of a built-in model."
        "`costep models ID` lists the ports of a built-in model, `costep inspect FILE` those of an FMU"
    E0204 UnknownKey Input "a key is not known here"
        "costep refuses keys it does not know, so that a misspelt option is never ignored silently."
        "remove the key; docs/project.md lists all keys"
    E0205 BadValue Input "a value is of the wrong type or out of range"
        "The message names the key, the value and what is allowed."
        "give a value of the kind and in the range that the message names"
    E0206 BadQuantity Input "a quantity cannot be read"
        "Quantities are a number and a unit, as in `5 ms`, `0.1s` or `1e-3`; a bare number is in SI units."
        "write a number and a unit, as in `5 ms`"
    E0207 UnknownModel Input "the system is neither a built-in model nor a project file"
        "`costep models` lists the built-in models; a project is a TOML file or a folder with a system.toml."
        "`costep models` lists the built-in models; a project is a TOML file or a folder with a system.toml"
    E0208 UnknownParameter Input "the model has no such parameter"
        "`costep models ID` lists the parameters of a model with their values and units."
        "`costep models ID` lists the parameters of a built-in model, `costep inspect FILE` the variables of an FMU"
    E0209 DoubleSource Input "an input is connected twice"
        "Two connections end at the same input. Write `sum = true` in each of them if their sum is wanted."
        "remove one of the connections, or write `sum = true` in both"
    E0210 UnconnectedInput Input "an input has no source"
        "Connect it, or give it a constant: `[[external]] to = \"subsystem.port\" value = 0`."
        "connect it, or give it a constant in an `[[external]]` table"
    E0211 UnitMismatch Input "units differ"
        "The two ends of a connection have different units. Write `unit = \"convert\"` to have values converted, or give the factor by `gain`, then the units are not compared."
        "write `unit = \"convert\"`, or give the factor by `gain`"
    E0212 Missing Input "something required is missing"
        "The message names the table and the key."
        "add the key that is named; docs/project.md lists all keys"
    E0213 Duplicate Input "a name is used twice"
        "Names of subsystems, groups and connections' targets are unique."
        "choose another name for one of them"
    E0214 Conflict Input "two settings exclude each other"
        "Each of them is possible alone. The message names both; remove one."
        "remove one of the two"
    E0215 UnknownName Input "a name is not known here"
        "Something refers to a part, group or subsystem that does not exist. The nearest names are listed."
        "name something that exists in this project"
    E0217 PortType Input "a port cannot be connected"
        "Signals are numbers: real and whole numbers, truth values and enumerations, elements of arrays one by one. Both ends of a connection are of the same kind; whole numbers also feed real ones. Nothing is rounded, except real numbers to the 32 bits of a Float32. All but Float64 are held over a step, whatever the method. Text and bytes can be set as parameters and start values, not connected."
        "connect signals of the same kind, elements of arrays one by one"
    E0218 Exists Input "a file would be overwritten"
        "costep does not overwrite projects and models. Choose another folder, or remove the file."
        "choose another folder, or remove the file"
    E0219 Busy Input "the folder is in use by another run"
        "Two runs into one folder would destroy each other's recording. Wait for the other one, stop it, or choose another folder by `--out DIR`. The lock is the operating system's: it ends with the process, so that nothing has to be removed after a crash."
        "wait for the other run, or choose another folder by `--out DIR`"
    E0301 UnknownMethod Input "the coupling method does not exist"
        "`costep methods` lists all coupling methods."
        "`costep methods` lists all coupling methods"
    E0302 UnknownOption Input "the coupling method has no such option"
        "`costep methods ID` lists the options of a method."
        "`costep methods ID` lists the options of a method"
    E0303 BadOption Input "a method option has a wrong value"
        "`costep methods ID` lists type, range and default of every option."
        "`costep methods ID` lists type, range and default of every option"
    E0304 NeedsMissing Input "a subsystem lacks what the coupling method needs"
        "Each method says what it needs (`costep methods ID`): rollback, input derivatives, a local model, micro samples."
        "`costep methods ID` tells what a method needs; `auto` takes what there is"
    E0305 AlgebraicLoop Input "outputs depend on themselves without delay"
        "A loop of connections passes straight through every subsystem on it, so that the outputs are the solution of an equation. The monolithic reference and the initial values need the loop to be free of this, or solvable."
        "break the loop by a delay or a state in one of its parts, or by other outputs"
    E0306 ModelFile Input "a file of identified models cannot be used"
        "`costep identify SYSTEM --out FILE` writes such files. They belong to systems whose parts and ports have the same names in the same order, and every number in them is finite. What does not fit is named."
        "make a new file by `costep identify SYSTEM --out FILE`"
    E0307 NothingLearnt Input "a part could not be identified"
        "Models are identified from inputs and outputs that move. The run was too short, or nothing happened in it: give a later `--t-end`, or a system that is excited."
        "give a later `--t-end`, or excite the system"
    E0401 SubsystemFailed Model "a subsystem reported an error"
        "The subsystem, its call and the time are named. Everything recorded before is kept."
        "the cause has the words of the subsystem; try a smaller step"
    E0402 NotFinite Model "a signal became NaN or infinite"
        "The value was stopped before it reached another subsystem. A coupling step beyond its stability limit is the usual cause: try a smaller step or another method."
        "try a smaller step or another method; `costep compare` shows several"
    E0403 TimeNotReached Model "a subsystem did not reach the end of the step"
        "It reported success, but its time is not the one asked for. FMI 3.0 lets an FMU miss the end of a step, as one with fixed steps inside does: up to a twentieth of the step this is accepted with a warning (W0110), beyond it signals would belong to other times than they are said to."
        "try a step that is a multiple of the steps inside of it"
    E0404 StepTooSmall Model "an integrator cannot meet its tolerance"
        "The inner step size fell to round-off level. The system may be discontinuous or too stiff for this integrator."
        "try a looser tolerance, or another solver for what is stiff or discontinuous"
    E0405 Crashed Model "an FMU ended the process it runs in"
        "It crashed or called `exit`. FMU, call and time are named as far as they are known; everything recorded is kept. `isolation = \"process\"` keeps an FMU apart from the others."
        "`isolation = \"process\"` keeps the FMU apart from the others; `costep check --probe` tries it by itself"
    E0406 Hung TimeLimit "an FMU does not return from a call"
        "The call took longer than `step_timeout` of the FMU (60 s unless given, 10 s at most for its end) and was ended. Everything recorded is kept."
        "give a longer `step_timeout`, if the FMU needs more time"
    E0407 MemoryLimit Model "the memory limit was reached"
        "The run used more memory than `memory_limit` allows and was ended. The FMU that was being called is named."
        "give a higher `--memory-limit`, or record fewer signals"
    E0408 EventsWithoutEnd Model "events follow each other without end"
        "A model with events switches back and forth or ever faster, so that time does not go on. A hysteresis or a threshold in the model ends this; time events have to lie ahead."
        "a hysteresis or a threshold in the model ends this; time events have to lie ahead"
    E0501 NotARecording Input "the file is not a costep recording"
        "Recordings are Arrow IPC streams written by `costep run`."
        "`costep run` writes recordings; give its folder or its results.arrows"
    E0502 RecordingDamaged Input "the recording is damaged"
        "The rows before the damage can still be read and exported."
        "`costep export FILE --to FILE.csv` saves the rows before the damage"
    E0503 RecordingFailed Model "the recording cannot be written"
        "Disk full, folder removed or read-only. The rows written before are valid."
        "see whether the disk is full and the folder still there; what was written before is valid"
    E0504 CheckpointDamaged Input "the checkpoint is damaged"
        "Its check sum does not match. The previous checkpoint is used if there is one."
        "remove the damaged file, or start the run anew by `costep run`"
    E0505 CheckpointForeign Input "the checkpoint belongs to another run"
        "Resuming needs the same system, parameters, method and step. The differing item is named."
        "resume with what the run was started with, or start anew by `costep run`"
    E0506 UnknownColumn Input "the recording has no such column"
        "`costep export FILE --list` shows the columns."
        "`costep export FILE --list` shows the columns"
    E0507 RunComplete Input "the run is complete"
        "It has reached its stop time, so that there is nothing to go on with. `costep run` with a later `--t-end` computes more."
        "`costep run` with a later `--t-end` computes more"
    E0601 Diverged Diverged "the run diverged"
        "A signal left its bounds, or grew beyond the limit relative to its nominal value, or a subsystem failed under a coupled input that had run away. The coupling is unstable at this step: try a smaller step or another method (`costep compare`)."
        "try a smaller step or another method; `costep compare` shows several"
    E0602 OutOfBounds Diverged "a signal left the bounds given in [guard]"
        "The run stopped at the first value outside the bounds."
        "try a smaller step, or widen the bounds in [guard]"
    E0603 TimeLimit TimeLimit "the time limit was reached"
        "The run was stopped after the wall time given by --time-limit. Everything recorded is kept."
        "give a longer `--time-limit`; a run that is recorded goes on by `costep resume DIR`"
    E0604 Stopped Stopped "the run was stopped"
        "Ctrl-C or a termination signal. The step was finished and everything recorded is kept."
        "a run that is recorded goes on by `costep resume DIR`"
    E0605 Repeats Diverged "the coupling method did not converge"
        "An iterative method asked for more repetitions of a step than allowed."
        "try a smaller step or another method"
    E0606 Killed Stopped "the run was killed from outside"
        "Somebody, or the system because memory was short, killed the process. No FMU is to blame for it. Everything recorded is kept."
        "a run that is recorded goes on by `costep resume DIR`"
    E0901 Bug Bug "a bug of costep"
        "This should not happen. Please report it with the command and the project file."
        "please report it with the command and the project file"
    W0107 NoNominal Input "outputs have no nominal value"
        "Nominal values say how large a signal typically is. Divergence is judged and systems of equations are scaled by them; 1 is taken where there is none."
        "give the outputs nominal values where the FMU is made"
    W0108 FmuRule Input "the FMU breaks a rule of FMI"
        "What is meant is clear enough to run it, or the project says `validate = false`. `costep inspect FILE` lists all of them with their lines; `costep explain CODE` explains the code at the end of the message."
        "`costep inspect FILE` lists all places with their lines"
    W0109 EventModeRefused Input "an FMU refuses the event mode that it declares"
        "Its model description says hasEventMode, but it gives no instance when it is told that this mode is used. It is instantiated again without: it handles its events inside of its own steps, and they are not seen at their times."
        "nothing has to be done; events are seen at communication points only"
    W0110 ClockDiffers Input "the clock of an FMU differs from that of the run"
        "After a step it says that it stands a little before or behind the end of it, which FMI 3.0 allows: with fixed steps inside, it cannot always be exactly there. Up to a twentieth of the step the run goes on, and its outputs count as those of the communication point. A step that is a multiple of the steps inside avoids it."
        "choose a step that is a multiple of the steps inside of it"
    W0141 SspWarning Input "the SSP does not follow the standard"
        "What is meant is clear, so the system is run. File, line and element are named."
        "`costep inspect FILE` lists all places with their lines"
    W0142 SspRemarks Input "something in the SSP has no effect here"
        "Graphics, meta data, annotations of other tools or parameter values without a target: the result is the same without them. `costep inspect FILE` lists them."
        "`costep inspect FILE` lists all of them"
    W0201 EmptyGroup Input "a group of connections is empty"
        "The group has a method but no inputs, so that it changes nothing."
        "give the group inputs, or remove it"
    W0202 OpenInputs Input "inputs of an FMU have no source"
        "They keep their start values over the whole run. That is allowed, and often a forgotten connection."
        "connect them, or give them a value in an `[[external]]` table"
    W0203 IntegratedHere Input "an FMU is integrated by costep"
        "It is for Model Exchange only and the project does not say how to use it, so that costep integrates it by a solver of its own choice."
        "write `interface = \"me\"` and a `solver` to choose"
    W0204 FmuPartUnused Input "something of an FMU is not used here"
        "The FMU has variables or clocks of a kind that costep does not exchange or does not activate: triggered clocks, clocked variables. It runs without them; whether its results are what is wanted depends on what they are for."
        "`costep inspect FILE` lists what is not used"
    W0205 InnerStep Input "the macro step does not fit the steps of an FMU"
        "The model description gives a fixed inner step (fixedInternalStepSize), and the macro step is no multiple of it. Such an FMU may miss communication points: by up to a twentieth of the step with a warning (W0110), beyond it the run ends (E0403)."
        "choose a step that is a multiple of it"
    W0301 DirectLoop Input "a loop passes straight through its parts"
        "Outputs depend on inputs without delay all around a loop of connections, by what the model descriptions say. Held or extrapolated inputs then feed back on themselves from step to step, which is unstable where the gain of the loop is more than one."
        "try a smaller gain, or a method that knows feed-through: `feedthrough`, `predictive`"
    W0302 OptionWithoutEffect Input "an option of a coupling method changes nothing"
        "Some options belong to others: the number of Euler steps to the Euler solver, the options of an identification to the source that identifies. `costep methods ID` tells for each option what it belongs to."
        "`costep methods ID` tells what each option belongs to; leave out what changes nothing"
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

    /// The code with exactly this identifier.
    pub fn of(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.entry().id == id)
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
    fn every_code_says_what_to_do() {
        for entry in CODES {
            let remedy = entry.remedy;
            assert!(remedy.len() > 15 && !remedy.ends_with('.'), "{} has no remedy: `{remedy}`", entry.id);
            assert_ne!(remedy, entry.title, "{}", entry.id);
        }
    }

    #[test]
    fn a_code_finds_its_own_row() {
        assert_eq!(Code::UnknownPort.entry().id, "E0203");
        assert_eq!(Code::of("E0203"), Some(Code::UnknownPort));
        assert_eq!(Code::find("e0203").map(|entry| entry.title), Some(Code::UnknownPort.entry().title));
    }
}
