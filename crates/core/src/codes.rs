//! The table of error codes. One row here gives a code its name, its exit class, its title, the long text of
//! `costep explain` and a remedy; nothing else has to be touched to add one.
//!
//! Ranges: `E01` FMUs (from `E0120` on what their model description says), `E02` projects and command line,
//! `E03` coupling methods, `E04` subsystems while running, `E05` recordings and checkpoints, `E06` guards of
//! the run, `E07` analysis, `E09` bugs of costep; `W` in the place of `E` for warnings.

/// What the exit code of the program is after an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitClass {
    /// The run ended as somebody wished: no failure. Exit code 0.
    Wish,
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
            Self::Wish => 0,
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
        "An FMU is a zip archive with a modelDescription.xml inside, an SSP one with a SystemStructure.ssd. This file is not a zip archive."
        "give the .fmu or .ssp file itself; `unzip -t FILE` checks whether it is a zip archive"
    E0102 ArchiveDamaged Input "the archive is damaged"
        "The FMU is a zip archive that was cut or changed: a record is missing, points outside the file, or a checksum differs. The cause gives the byte. Copy or export the FMU again."
        "copy or export the file again"
    E0103 ArchiveRefused Input "the archive contains something that is not allowed in an FMU"
        "Names that lead outside the FMU, links, encrypted or duplicate entries and contradictory headers are refused before anything is unpacked. Folders that are only written in an unusual way (`./`, `\\` between their parts, attributes of a file) and Zip64 records of small archives are read with a warning. Export the FMU again with a plain zip of stored or deflated files."
        "export the FMU again, as a plain zip of stored or deflated files"
    E0104 ArchiveLimit Input "the archive exceeds a limit"
        "The number of entries, the unpacked size or the compression ratio is far beyond what FMUs need; this protects against archives made to fill memory or disk. The message names the limit."
        "export the FMU without files that it does not need"
    E0105 NoModelDescription Input "the FMU has no model description"
        "The file modelDescription.xml is missing at the root of the archive. A frequent cause is zipping the folder instead of its contents."
        "zip the contents of the folder, not the folder"
    E0106 BadXml Input "a document is not well-formed XML"
        "The document is not valid XML at the line shown."
        "fix the document at the line shown, or export it again"
    E0107 XmlRefused Input "a document contains XML that is refused"
        "Document type declarations and entities, unknown encodings, and documents beyond the limits of size and depth are refused: an FMU or SSP does not need them, and they are a known way of attack."
        "write the document in UTF-8, without DOCTYPE and entities"
    E0108 FmiVersion Input "the FMI version is not supported"
        "costep reads FMUs of FMI 1.0, 2.0 and 3.0."
        "export the FMU again for FMI 2.0 or 3.0"
    E0109 BadDescription Input "the model description cannot be used"
        "Something essential is missing or wrong, such as the name or value reference of a variable. The message gives the line."
        "export the FMU again; `costep inspect FILE` lists everything that is wrong with it"
    E0110 NoBinary Input "the FMU has no binary for this platform"
        "The message lists the platforms that are in the FMU. Export it for this platform, or compile its sources."
        "export the FMU for this platform, or compile its sources"
    E0111 FmuNotLoaded Input "the shared library of the FMU cannot be loaded"
        "The operating system could not load the library; the cause shows its message, often the name of another library that is missing on this machine."
        "install the library named in the cause, or name its folder in LD_LIBRARY_PATH; `ldd` lists the libraries that a binary needs"
    E0112 FmuSymbol Input "the shared library of the FMU lacks a function"
        "FMI requires the function named in the message. The library was built for another interface or version of FMI, or its symbols are hidden."
        "export the FMU again for the interface that its model description names"
    E0113 FmuNotInstantiated Model "the FMU could not be instantiated"
        "The FMU returned no instance. Usual causes: the binary does not match the model description (different GUID or instantiation token), a licence or a file is missing. The last message of the FMU is shown as cause."
        "the message of the FMU names the cause, if there is one; export the FMU again if binary and model description do not match"
    E0114 FmuValue Input "a value does not fit the variable of the FMU"
        "Type, number of elements or range differ, or the variable cannot be set before a run. `costep inspect FILE` lists the variables of an FMU."
        "`costep inspect FILE` lists the variables of an FMU with their types"
    E0115 FmuDiscard Model "the FMU did not complete a call or a step"
        "The FMU returned Discard or returned early. The message gives the time it reached, if known. A smaller step may help."
        "try a smaller step"
    E0116 FmuError Model "the FMU returned an error"
        "The message names the call; the cause shows the last message of the FMU. This instance cannot continue."
        "the cause has the last words of the FMU; look at the inputs it had then and at its values in `set`, and write `log = true` in its table for all it says"
    E0117 FmuFatal Model "the FMU returned a fatal error"
        "All instances of the FMU are unusable. None of its functions is called again, not even to free it."
        "the cause has the last words of the FMU; look at the inputs it had then and at its values in `set`, and write `log = true` in its table for all it says"
    E0118 FmuPending Model "the FMU wants to compute in the background"
        "Asynchronous steps (status Pending of FMI 1 and 2) are not supported."
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
    E0122 FmuCausality Input "causality, variability and initial are not compatible"
        "FMI has a table of allowed combinations."
        "see the table of causality, variability and initial in the FMI standard"
    E0123 FmuStart Input "a start value is missing or not allowed"
        "Parameters, inputs and variables with initial `exact` or `approx` need one; calculated variables and the independent variable must not have one."
        "add or remove the start value in the tool that exports the FMU"
    E0124 FmuRange Input "a value lies outside its range"
        "min must not exceed max, start must lie between them, nominal values and step sizes must be positive."
        "fix min, max, start or nominal in the tool that exports the FMU"
    E0125 FmuStructure Input "the model structure is wrong or incomplete"
        "ModelStructure lists every output once, the derivatives of all states, and all unknowns of the initialisation."
        "export the FMU again; `costep inspect FILE` lists all such places"
    E0126 FmuUnit Input "a unit is not defined"
        "Every unit and display unit of a variable is defined in UnitDefinitions."
        "define the unit in UnitDefinitions"
    E0127 FmuType Input "a type definition is missing or does not match"
        "A declared type must exist and match the type of the variable; enumerations need one, with items."
        "define the type in TypeDefinitions, with the type of the variable"
    E0128 FmuSchema Input "the model description does not follow the schema"
        "An attribute is invalid, missing or unknown, or an element is in the wrong place."
        "export the FMU again; `costep inspect FILE` lists all such places"
    E0129 FmuClock Input "a clock is declared wrongly"
        "FMI specifies which attributes each kind of clock needs and what a clocked variable may be."
        "fix the clock in the tool that exports the FMU"
    E0130 FmuName Input "a name does not follow its convention"
        "The name does not have the form that the model description declares (variableNamingConvention)."
        "rename the variable, or declare variableNamingConvention=\"flat\""
    E0131 FmuArray Input "an array is declared wrongly"
        "Each dimension has a size or refers to a structural parameter; the number of start values is one or matches the dimensions."
        "fix the dimensions or the start values in the tool that exports the FMU"
    E0132 FmuFiles Input "files of the FMU are in the wrong place"
        "Binaries are in binaries/PLATFORM/IDENTIFIER with the platform's extension; the names of platforms differ between FMI 2.0 and 3.0."
        "put the binaries into the folders specified by FMI"
    E0133 FmuCapability Input "capability flags contradict each other"
        "Some flags have a meaning only together with another one."
        "fix the flags in the tool that exports the FMU"
    E0134 FmuEnds Model "the FMU asked to end the simulation"
        "The FMU asked to stop before the stop time of the run, at the time given in the message. This is not a failure of the FMU: results up to that time are valid, and recorded up to the last communication point. With a stop time that is not later (`--t-end`) the run completes. A run whose first step does not come to its end has no results: then this is an error. Python code whose `do_step` does not return True ends like that."
        "set `--t-end` to the time given in the message"
    E0140 NoSystemStructure Input "the package has no system structure"
        "An SSP is a zip archive with a SystemStructure.ssd at its root. A frequent cause is zipping the folder instead of its contents."
        "zip the contents of the folder, not the folder"
    E0141 SspSchema Input "a system structure does not follow its format"
        "An element, attribute or statement is missing, invalid or in the wrong place. The message gives file, line and element."
        "fix the file at the line shown, or export the system again"
    E0142 SspReference Input "a system structure refers to something that does not exist"
        "A file, element, connector, unit or dictionary does not exist, or lies where references are not followed. References never lead out of a package or to the network; those of a file on disk may lead as far as three folders above its own, and further with `--allow-outside`."
        "fix the name, or add what is missing"
    E0143 SspUnsupported Input "a system structure uses something that is not supported"
        "Ignoring it would change the result, so the system is not run. `costep inspect FILE` lists all such items; docs/ssp.md and docs/import.md have the tables."
        "`costep inspect FILE` lists all such items, docs/ssp.md and docs/import.md what is supported"
    E0144 SspCycle Input "systems or connectors of a system structure form a cycle"
        "A system contains itself, or connectors feed each other without a component in between."
        "remove one of the connections or systems from the cycle"
    E0145 SspUnused Input "something in a system structure has no effect here"
        "costep ignores graphics, metadata, annotations of other tools and parameter values without a target. They do not change the result."
        "no action needed; `costep inspect FILE` lists all of it"
    E0150 NoSandbox Model "an FMU cannot be confined on this system"
        "`isolation = \"sandbox\"` needs Linux 5.13 or later with Landlock and filters of system calls. The message says what is missing."
        "use `isolation = \"process\"`, or a system that has it"
    E0190 NoRest Input "the system cannot start at rest"
        "`initial = \"steady\"` in [system] asks for a start at which nothing changes, under the inputs from outside just before it. The states of native parts and of FMUs for Model Exchange, by start values of their state variables, are set so; some FMUs compute their initial states whatever they are given. Where a part is an FMU for Co-Simulation, or one in a process of its own, its derivatives are not known: the whole system is then run before the start, with its method and step and under inputs that stay, for as long as the run takes, for 4 times and for 16 times that, until no output moves by more than a millionth of its size over the last half. Systems with an integrator that is fed, with relays that switch for ever, or without damping and bounds, have no rest."
        "remove `initial`, or give it time to rest: a later `stop`, more damping"
    E0200 CommandLine Input "the command line is invalid"
        "A flag, its value or a combination of flags is not allowed. `costep help` and `costep help VERB` list what is."
        "`costep help` lists the verbs, `costep help VERB` the flags of one"
    E0201 FileNotReadable Input "a file cannot be read or written"
        "The operating system could not open, read or write the file. The cause shows its message."
        "check the path, the permissions and the free disk space"
    E0202 Syntax Input "the project file is not valid TOML"
        "The file is not valid TOML at the line shown. Strings need quotes: `size = \"5 ms\"`."
        "fix the file at the line shown; strings need quotes"
    E0203 UnknownPort Input "a connection names a port that does not exist"
        "Ports are written `subsystem.port`. `costep models ID` lists the ports of a built-in model."
        "`costep models ID` lists the ports of a built-in model, `costep inspect FILE` those of an FMU"
    E0204 UnknownKey Input "unknown key"
        "costep refuses keys it does not know, so that a misspelt option is never ignored silently."
        "remove the key; docs/project.md lists all keys"
    E0205 BadValue Input "a value is of the wrong type or out of range"
        "The message gives the key, the value and what is allowed."
        "give a value of the type and range stated in the message"
    E0206 BadQuantity Input "a quantity is not valid"
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
        "The two ends of a connection have different units. Write `unit = \"convert\"` to have values converted, or give the factor with `gain`; the units are then not compared."
        "write `unit = \"convert\"`, or give the factor with `gain`"
    E0212 Missing Input "something required is missing"
        "The message gives the table and the key."
        "add the missing key; docs/project.md lists all keys"
    E0213 Duplicate Input "a name is used twice"
        "Names of subsystems and groups, and keys of a table, must be unique."
        "choose another name for one of them"
    E0214 Conflict Input "two settings exclude each other"
        "Each is allowed on its own. The message names both; remove one."
        "remove one of the two"
    E0215 UnknownName Input "unknown name"
        "Something refers to a part, group or subsystem that does not exist. The help lists similar names."
        "use a name that exists"
    E0217 PortType Input "a port cannot be connected"
        "Ports are real numbers, integers, Booleans, enumerations, strings or binary values; elements of arrays are connected one by one. Both ends of a connection must be of the same type, except that an integer output may feed a real input. Values are not rounded, except to Float32 where the input is one. All types but Float64 are held constant over a step, whatever the method. Strings and binary values are exchanged but not recorded, and not between FMUs in separate processes. Clocks and clocked variables cannot be connected."
        "connect ports of the same type, elements of arrays one by one"
    E0218 Exists Input "a file would be overwritten"
        "costep does not overwrite projects and models. Choose another folder, or remove the file."
        "choose another folder, or remove the file"
    E0219 Busy Input "the folder is in use by another run"
        "Two runs in one folder would overwrite each other's recording. Wait for the other run, stop it, or choose another folder with `--out DIR`. The operating system releases the lock when the process ends, so nothing has to be removed after a crash."
        "wait for the other run, or choose another folder with `--out DIR`"
    E0220 DataFile Input "a file of values cannot be used as a signal"
        "It is CSV with a line of names, time in the first column, and numbers below, separated by tabs, semicolons or commas; or a recording of costep. Times have to rise, and every line has as many columns as the first."
        "fix the file at the line shown; docs/howto/external-signals.md says how files of values are written"
    E0270 NotAProject Input "the file is not a project"
        "The file is of another kind: an archive, an XML document of a format that is not read, a recording, or text that is not TOML in most of its lines. The message says what it is."
        "a system is a TOML project (docs/project.md), an .fmu, .ssp, .ssd or .msim file, an OspSystemStructure.xml or a multi-model in JSON (docs/import.md)"
    E0301 UnknownMethod Input "the coupling method does not exist"
        "`costep methods` lists all coupling methods."
        "`costep methods` lists all coupling methods"
    E0302 UnknownOption Input "the coupling method has no such option"
        "`costep methods ID` lists the options of a method."
        "`costep methods ID` lists the options of a method"
    E0303 BadOption Input "a method option has an invalid value"
        "`costep methods ID` lists type, range and default of every option."
        "`costep methods ID` lists type, range and default of every option"
    E0304 NeedsMissing Input "a subsystem lacks a capability that the coupling method needs"
        "Methods that repeat steps need parts that go back to a stored state (canGetAndSetFMUstate), those with local models need directional derivatives or states that can be read, and steps that vary need parts that take steps of any length (canHandleVariableCommunicationStepSize). The model description of an FMU says what it offers, and `costep inspect FILE` shows it; `costep check --probe` tries whether it works. The message names the part, and the line or option that asked."
        "`costep methods ID` lists what a method needs; `auto` uses what the subsystems offer"
    E0305 AlgebraicLoop Input "algebraic loop: outputs depend on themselves without delay"
        "Every subsystem of a loop of connections has direct feedthrough (an algebraic loop), so that its outputs are the solution of an equation. At the start and in monolithic runs it is solved by Newton's method with damping, during a run by methods that repeat steps (`iqn-ils`). The message shows the loop and what is left of the equation where no solution was found."
        "give other start values, or break the loop with a delay or a state in one of its parts"
    E0306 ModelFile Input "a file of identified models cannot be used"
        "`costep identify SYSTEM --out FILE` writes such files. The system must have parts and ports of the same names in the same order, and all numbers must be finite. The message says what does not match."
        "write a new file with `costep identify SYSTEM --out FILE`"
    E0307 NothingLearnt Input "a part could not be identified"
        "Identification needs inputs and outputs that change. The run was too short or not excited: give a later `--t-end`, or excite the system."
        "give a later `--t-end`, or excite the system"
    E0320 UnknownControl Input "the step control does not exist"
        "The table [step] or `--control` names a control of the macro steps that costep does not have. There are defect, which a tolerance alone means, predictor-corrector, richardson (all parts can go back), ecco (power bonds), and, without a tolerance, convergence (methods that repeat steps) and fixed."
        "leave out `control`: `defect` needs nothing"
    E0321 ControlNeeds Input "the step control needs what the system does not have"
        "`richardson` tries steps and goes back, so every part has to be able to; `ecco` watches power bonds, so two connections at least have to be one; `convergence` needs a method that repeats steps. Steps of varying lengths need parts that can do them. `defect`, which a tolerance alone means, needs nothing else."
        "use `control = \"defect\"`"
    E0401 SubsystemFailed Model "a subsystem reported an error"
        "The message gives subsystem, call and time. Everything recorded before is kept."
        "see the message of the subsystem in the cause; try a smaller step"
    E0402 NotFinite Model "a signal became NaN or infinite"
        "The value was stopped before it reached another subsystem. A coupling step beyond its stability limit is the usual cause: try a smaller step or another method."
        "try a smaller step or another method; `costep compare` compares several"
    E0403 TimeNotReached Model "a subsystem did not reach the end of the step"
        "It reported success, but its time is not the end of the step. FMI 3.0 allows this, for example for FMUs with fixed inner steps: a difference of up to a twentieth of the step, or of its declared inner step, is accepted with a warning (W0110); with more, signals would be assigned to wrong times."
        "choose a macro step that is a multiple of the inner step"
    E0404 StepTooSmall Model "an integrator cannot meet its tolerance"
        "The inner step size fell to round-off level. The system may be discontinuous or too stiff for this integrator."
        "try a looser tolerance, or another solver if the model is stiff or discontinuous"
    E0405 Crashed Model "an FMU crashed its process"
        "It crashed or called `exit`. The message gives FMU, call and time as far as known; everything recorded is kept. `isolation = \"process\"` runs an FMU in its own process."
        "`isolation = \"process\"` keeps the other parts from it; `costep check --probe` tests the FMU by itself; report it to the maker of the FMU"
    E0406 Hung TimeLimit "an FMU does not return from a call"
        "The call took longer than `step_timeout` of the FMU (default 60 s; at most 10 s for terminating) and was aborted, or nothing was done for so long between calls. Everything recorded is kept. An FMU that hangs is mostly in a loop that does not end, or waits: for a dialog that nobody sees, for a licence, for an answer on standard input, for a file or another machine. More time does not help then. What it does shows a debugger, `gdb -p PID`, while it hangs; of Python code `py-spy dump --pid PID`, or `import faulthandler; faulthandler.dump_traceback_later(30)` at the top of its file, which prints the lines that are being executed after 30 s. An FMU that is only slow gets more time by `step_timeout = \"10 min\"` in its table [fmu.NAME]."
        "look for a loop without end, a dialog, a licence or a question that it waits for; `step_timeout = \"10 min\"` in [fmu.NAME] gives an FMU that is only slow more time"
    E0407 MemoryLimit Model "the memory limit was reached"
        "The run exceeded `memory_limit` and was aborted. The message names the FMU that was being called."
        "increase `--memory-limit`, or record fewer signals"
    E0408 EventsWithoutEnd Model "endless sequence of events"
        "A model switches back and forth or ever faster (chattering, Zeno behaviour), so that time does not advance. A hysteresis or a threshold in the model avoids this; time events must lie in the future."
        "add a hysteresis or a threshold to the model; time events must lie in the future"
    E0415 ShortestStep Model "a step shorter than the shortest one is needed"
        "The coupling method or the step control wants a step done again, shorter than `min` in [step] allows. Often a signal jumps, or the method is unstable at any step that is left: look at the time and place of the error."
        "choose a smaller `min` or a larger `tolerance` in [step], or another method"
    E0501 NotARecording Input "the file is not a costep recording"
        "Recordings are Arrow IPC streams written by `costep run`."
        "`costep run` writes recordings; give its folder or its results.arrows"
    E0502 RecordingDamaged Input "the recording is damaged"
        "The rows before the damage can still be read and exported."
        "`costep export FILE --to FILE.csv` saves the rows before the damage"
    E0503 RecordingFailed Model "the recording cannot be written"
        "Disk full, folder removed or read-only. The rows written before are valid."
        "check that the disk is not full and the folder still exists; the rows written before are valid"
    E0504 CheckpointDamaged Input "the checkpoint is damaged"
        "Its checksum does not match. The previous checkpoint is used if there is one."
        "remove the damaged file, or start the run again with `costep run`"
    E0505 CheckpointForeign Input "the checkpoint belongs to another run"
        "Resuming needs the same system, parameters, method and step. The message names the difference."
        "resume with the settings of the original run, or start again with `costep run`"
    E0506 UnknownColumn Input "the recording has no such column"
        "`costep export DIR --list` shows the columns of the run in the folder DIR."
        "`costep export DIR --list` shows the columns of the run in the folder DIR"
    E0507 RunComplete Input "the run is complete"
        "It has reached its stop time, so there is nothing to resume. Use `costep run` with a later `--t-end` to simulate longer."
        "use `costep run` with a later `--t-end` to simulate longer"
    E0601 Diverged Diverged "the run diverged"
        "A signal left its bounds, or grew beyond the limit relative to its nominal value, or a subsystem failed because a coupled input had diverged. The coupling is unstable at this step: try a smaller step or another method (`costep compare`)."
        "try a smaller step or another method; `costep compare` compares several"
    E0602 OutOfBounds Diverged "a signal left the bounds given in [guard]"
        "The run stopped at the first value outside the bounds."
        "try a smaller step, or widen the bounds in [guard]"
    E0603 TimeLimit TimeLimit "the time limit was reached"
        "The run was stopped after the wall time given by --time-limit, or shortly before the processor time that the shell allows (`ulimit -t`). Everything recorded is kept."
        "increase `--time-limit`, or leave it out"
    E0604 Stopped Stopped "the run was stopped"
        "By Ctrl-C or a termination signal. The step was completed and everything recorded is kept."
        "`costep run` starts it again"
    E0605 Repeats Diverged "the coupling method did not converge"
        "An iterative method needed more repetitions of a step than allowed."
        "try a smaller step or another method"
    E0606 Killed Stopped "the run was killed"
        "A user killed the process, or the system did because it was out of memory; an FMU is not blamed, though one that was in a call may have done it itself. Everything recorded is kept."
        "close other programs or lower what the run needs, and start it again"
    E0610 NoProcess Model "a process or thread cannot be started"
        "FMUs run in a second process. The system refuses to start it: too many files are open, or too many processes run."
        "raise the limit of the shell that the cause is about (`ulimit -a` lists them), or close other programs"
    E0611 OutOfMemory Model "there is no memory left"
        "The system, or a limit of the shell (`ulimit -v`), gives no more memory. Everything recorded up to the last second is kept."
        "raise the limit, or simulate a smaller system"
    E0620 PythonFailed Model "Python code raised an exception"
        "A part or a coupling method that is written in Python raised an exception, which ended the run. In Python it is the cause of this error."
        "the cause of the exception has the traceback of your code"
    E0621 PythonShape Model "Python code gave the wrong number of values"
        "A part or a coupling method that is written in Python has to give one finite number for each of its outputs, states or inputs, in their order."
        "return one number per output, or an array or list of that length"
    E0622 PythonMisuse Input "an object cannot be used like this"
        "A simulation that was closed, that another process has started (after a fork) or that a thread is still working with takes no further calls; systems that were read from a file get no further parts or connections."
        "make a new object for this"
    E0623 ConditionMet Wish "a stop condition was met"
        "A condition of `stop_when` in [system] holds at a communication point, and the run ended there as the project asks. That is no failure: the exit code is 0."
        "change or remove the condition in [system] if the run is to go on"
    E0710 StateTooLarge Input "the system is too large for a linear map of its steps"
        "`costep stability` changes every number that a run carries from step to step, one at a time. Beyond some thousands that takes too long, and so do the eigenvalues of the map."
        "judge a part of the system, or compare runs: `costep compare`"
    E0711 NoLinearMap Input "a macro step is no linear map"
        "Stability is judged by the linear map of one macro step. What the run carries from step to step has to have the same form before and after it, and somebody has to say how the parts answer: native models, FMUs with directional derivatives, those that can be put back, or models identified from a run."
        "choose another point of the run (`--at`), or compare runs: `costep compare`"
    E0730 BadLevels Input "the levels of a factor cannot be used"
        "A factor of a plan or map has a range `FROM..TO:COUNT`, `FROM..TO:log:COUNT` or a list of different levels, two at least. Ranges on a logarithmic scale have positive ends."
        "write `FROM..TO:COUNT`, `FROM..TO:log:COUNT` or a list of two levels or more"
    E0731 PlanTooLarge Input "a plan has too many runs"
        "A full factorial plan has as many runs as the product of the numbers of its levels. The message gives the product and the limit."
        "leave out levels or factors; run the most important factors first"
    E0732 ForeignRows Input "the rows in the folder belong to another plan"
        "Rows that are done are not run again, which is right only if plan, system and files are still the same. The message names what differs."
        "choose another folder with `--out`, or start over with `--fresh`"
    E0733 RowsMissing Input "runs of the plan are missing"
        "The shards that were merged do not hold every run of the plan, or hold only some factors of it. The message gives how many are missing."
        "run the missing shards, then merge again; what is merged so far is in the folder"
    E0740 ErrorNotReached Diverged "no trial has the error that was asked for"
        "`costep advise` tried methods at smaller and smaller steps until their errors did not fall any more, their steps were as short as the inner steps of the solver, or time was over. The message gives the least error that was seen."
        "a larger `--error`, more `--time`, or another `--solver` for native parts"
    E0901 Bug Bug "internal error"
        "This is a bug in costep. Please report it with the command and the project file."
        "please report it with the command and the project file"
    W0107 NoNominal Input "outputs have no nominal value"
        "Nominal values say how large a signal typically is. They are used to detect divergence and to scale systems of equations. Where they are missing, a signal has diverged if it grows a millionfold and nothing follows it, and 1 is assumed for scaling."
        "give the outputs nominal values in the tool that exports the FMU"
    W0108 FmuRule Input "the FMU breaks a rule of FMI"
        "The meaning is clear enough to run it, or the project says `validate = false`. `costep inspect FILE` lists all violations with their lines; `costep explain CODE` explains the code at the end of the message."
        "`costep inspect FILE` lists all places with their lines"
    W0109 EventModeRefused Input "an FMU refuses the event mode that it declares"
        "Its model description declares hasEventMode, but instantiation fails when event mode is requested. It is instantiated again without event mode: it handles events inside its steps, and they are seen at communication points only."
        "no action needed; events are seen at communication points only"
    W0110 ClockDiffers Input "the time of an FMU differs from that of the run"
        "After a step the FMU reports a time slightly before or after the end of the step. FMI 3.0 allows this: with fixed inner steps it cannot always end exactly there. Up to a twentieth of the step, or the inner step that the FMU declares, the run continues, and the outputs are taken as those of the communication point. The same is done where an FMU completes its steps but leaves its time at zero. A macro step that is a multiple of the inner step avoids this."
        "choose a macro step that is a multiple of the inner step"
    W0111 ForeignEnvironment Input "an FMU hands its logger a foreign environment"
        "FMI has an FMU hand the pointer back to the logger that it was given with the callbacks. This one hands over another. It is not followed: the message is put down to the instance whose name comes with it, or to the only one there is."
        "no action needed; messages of instances of the same name may be mixed up"
    W0112 StepwiseInputs Input "real inputs are declared to be discrete"
        "Some tools declare every signal so, whatever it stands for. In Co-Simulation such an input may take a new value at every communication point: coupling methods form it, and what they give is applied by its mean over the step, without input derivatives. In Model Exchange it changes at events only and is held."
        "write `continuous = [...]` for signals that are smooth, or `discrete = [...]` for those that have to be held (`[fmu.NAME]`)"
    W0113 IsolatedAfterCrash Input "an FMU ended the process of a comparison"
        "It crashed, ended the program or did not return from a call. The comparison is done again with this FMU in its own process, so that it ends no more than the runs in which it does so."
        "the table says which runs failed; `isolation = \"process\"` in [fmu.NAME] avoids the repetition"
    W0114 LateOutputs Input "an FMU sets outputs on leaving the initialisation"
        "Outputs have other values after the initialisation than in it, although nothing happened in between. The later values are recorded and passed on; inputs that depended on the earlier ones in the initialisation may not fit them."
        "give start values that fit, if the first steps matter"
    W0134 EndedAtOnce Input "an FMU ended the run after one step"
        "The FMU asked to end the simulation when one macro step was done, before the stop time. That is legitimate, but mostly not meant: a condition that holds from the start, a status that is not set, or Python code whose `do_step` does not return True."
        "look why it ends: `log = true` in its table makes it say all it can; Python code: `do_step` has to return True"
    W0141 SspWarning Input "a system structure does not follow its format, or means more than costep does"
        "What is meant is clear enough to run it; where something has no counterpart, the message says what is done instead. It gives file, line and element."
        "`costep inspect FILE` lists all places with their lines"
    W0142 SspRemarks Input "something in a system structure has no effect here"
        "costep ignores graphics, metadata, annotations of other tools and parameter values without a target. They do not change the result. `costep inspect FILE` lists them."
        "`costep inspect FILE` lists all of them"
    W0143 TimesProposed Input "a system structure does not say how long or by which steps it runs"
        "Some formats leave the end of a run or the macro step to whoever starts it. What an FMU of the system proposes is taken, or a second and a thousandth of the run."
        "give them: `--t-end 10s --step 1ms`"
    W0201 EmptyGroup Input "a group of connections is empty"
        "The group has a method but no inputs, so it has no effect."
        "give the group inputs, or remove it"
    W0202 OpenInputs Input "inputs of an FMU have no source"
        "They keep their start values during the whole run. This is allowed, but often a forgotten connection."
        "connect them, or give them a value in an `[[external]]` table"
    W0203 IntegratedHere Input "an FMU is integrated by costep"
        "It is for Model Exchange only and the project does not say how to use it, so costep integrates it with a solver of its choice."
        "write `interface = \"me\"` and choose a `solver`"
    W0204 FmuPartUnused Input "some features of an FMU are not used"
        "The FMU has variables or clocks of a kind that costep does not exchange or does not activate: triggered clocks, clocked variables. It runs without them, which may change its results."
        "`costep inspect FILE` lists what is not used"
    W0205 InnerStep Input "the macro step is not a multiple of the inner step of an FMU"
        "The model description gives a fixed inner step (fixedInternalStepSize). Such an FMU misses communication points by up to this step: its outputs are then older than the point they count for (W0110)."
        "choose a step that is a multiple of it"
    W0206 ColumnUnit Input "the unit of a column is not that of the input"
        "A file of values gives another unit than the model description, or its times do not look like seconds. Values and times are taken as they are."
        "convert by `gain` and `offset` in [[external]]; a gain of 1 says that the values are right"
    W0207 StopPassed Input "the run passes its stop time"
        "The stop time is no multiple of the macro step, and an FMU cannot do a shorter last step: it does not declare canHandleVariableCommunicationStepSize, or its fixed inner steps do not fit. All steps are then equal, and the run ends at the first communication point after its stop time."
        "choose a stop time that is a multiple of the step"
    W0208 PythonIsolated Input "an FMU carries Python code"
        "A process has one Python interpreter, in which modules of the same name of two FMUs would be one: the second FMU would silently compute what the first does. So such an FMU runs in its own process unless `isolation` says something else. With `none` it shares the process of the run, in which Python is ended and started again with each instance; packages with code of their own, NumPy for one, do not survive that. An active virtual environment (VIRTUAL_ENV) is used in that process."
        "write `isolation = \"process\"` to confirm this"
    W0209 StaleCopy Input "an FMU is a copy of a file that has changed"
        "`costep new` copies FMUs into the project and notes where they came from (`copied_from`). The file there has other bytes than the copy, as after an export of the model. The copy is used."
        "copy the new file over it, or remove `copied_from`"
    W0270 AssumedStep Input "the project gives no macro step"
        "The step that the parts propose is taken. The macro step decides about accuracy and stability of a coupling, so a project should give it."
        "write `size` in [step]"
    W0271 RecordedPerStep Input "rows are wanted more often than there are steps"
        "`every` in [record] is shorter than the macro step. Signals are known at communication points, so there is one row for each of them."
        "leave `every` out, or choose a smaller step"
    W0272 ExternalUnseen Input "an external input is not seen in the run as it is given"
        "Its signal begins after the run, its times are none of the run, a file covers a part of the run only, or it oscillates faster than two steps can show. Outside of the times of tables and files their first and last values are kept; before `start` the other shapes are 0."
        "give times within the run, in s or with a unit in quotes; choose steps of a twentieth of a period or less"
    W0273 FedStart Input "the start value of an input has no effect"
        "Something feeds the input, a connection or an external signal, and the input takes the value of its source from the start of the run on. At most it is where an algebraic loop at the start begins to be solved."
        "remove it, or set where the source starts"
    W0274 UnitlessTime Input "a time of the command line has no unit"
        "Numbers without a unit are seconds. A step of the command line without one that is a fiftieth of the run or more, or that of a run which went wrong, may have been meant in milliseconds: `--step 1` is 1 s, `--step 1ms` a thousandth of it."
        "write the unit: `--step 1ms`, or `--step 1s` to confirm seconds"
    W0301 DirectLoop Input "a loop of direct feedthrough (algebraic loop)"
        "According to the model descriptions, all parts of a loop of connections have direct feedthrough. Held or extrapolated inputs then feed back on themselves from step to step, which is unstable if the loop gain is greater than one."
        "reduce the gain, or use a method that handles direct feedthrough: `iqn-ils`, `ijcsa`, `predictive`, `feedthrough`"
    W0302 OptionWithoutEffect Input "an option of a coupling method has no effect"
        "Some options belong to others: the number of Euler steps to the Euler solver, the options of an identification to the source that identifies. `costep methods ID` says for each option what it belongs to."
        "`costep methods ID` says what each option belongs to; remove options without effect"
    W0303 MethodLimited Input "a coupling method does less than it could"
        "The subsystems do not offer what it would use: shorter steps for its start, input polynomials in place of held inputs, or (`lis`) a model of the other parts beside their own states. The message names the subsystem and what is done instead. `costep check SYSTEM --probe` shows what FMUs offer, and whether it works."
        "no action needed; another export of the FMU may offer more"
    W0310 NotConverged Input "macro steps did not converge"
        "A method that repeats steps (`fixed-point`, `iqn-ils`, `ijcsa`) has come to its limit of tries. With `without_convergence=accept` such steps are taken as they are, with `halve` they are done in halves. The message gives how many there are, and time, input and residual of the worst. The columns `iterations` and `residual` of the recording show all of them."
        "try a smaller step, more `max_iterations`, `iqn-ils` or `ijcsa`; or `without_convergence=halve`, `stop`"
    W0311 TrialsFailed Input "steps failed at first and were done again, shorter"
        "In a step that a method repeats or a control of steps tries, a signal became NaN, left its bounds, or an FMU refused the step (Discard). Where all parts can go back, the step is then tried at half its length, and so on to the shortest one (or a 64th of fixed steps), before the run ends. The message gives how many steps this concerns, and the first failure."
        "no action needed if the verdict is good; else a smaller step, or `max` in [step]"
    W0312 ToleranceMissed Input "the error of a run is far beyond its tolerance"
        "A tolerance bounds what the inputs of each step lack, as a share of what they range over. What becomes of it is up to the system: slow motion without damping adds up what a fast transient lacked, and where the coupling is stiff, methods that extrapolate are unstable beyond some length of step, however small the error of each. The message compares the error that the verdict quotes with the tolerance."
        "try another method (`predictive` has no such limit, `nepce` gives back what a step lacked): `costep compare SYSTEM --tolerance 1e-3`; or a smaller tolerance"
    W0320 NoBond Input "a power bond is not a pair of connections"
        "Two connections with the same `bond`, from one part to another and back, are a power bond: their signals multiply to a power, which is recorded with the energy that is lost or made on the way. This name is at one connection, at more than two, or not at two between the same parts, or at one with a gain of zero: nothing is recorded for it."
        "give the same `bond` to exactly two connections, there and back"
    W0601 ReferenceFailed Input "a reference could not be computed"
        "What runs are compared with came to no end: its solver gave up, or its signals became infinite, mostly because inner steps of a fixed length are too long for the model. The runs are there all the same, judged as without a reference."
        "native parts: another solver with `--reference`, `dopri5` or `bdf` for example, or a smaller inner step; FMUs: another step, `--reference step:TIME`"
    W0730 RunsFailed Input "runs of a plan failed"
        "They did not diverge: something else ended them, such as a method that cannot work with the system. They have no error, so that the plan is not full, and neither effects nor an optimal set can be computed. The table has their codes."
        "`costep explain CODE` explains the codes; leave out the levels that cannot work"
    W0740 UncertainReference Input "an error is known less well than was asked for"
        "`costep advise` compares runs with a reference that has an error of its own, or with second runs at half the step. The choice was made by that error; the true one may be larger than what was asked for by about as much as the message says."
        "more `--time` for a better reference, a tighter `--solver` for native parts, or a larger `--error`"
    W0741 TrialHung Input "an FMU did not return from a call in a trial"
        "`costep advise` gives a call of an FMU a tenth of its `--time`, at least 2 s and at most `step_timeout`, and then ends it. The trial says nothing about the method; others go on at shorter steps, and after three such trials the search ends."
        "more `--time` if the FMU is only slow; else its maker is to look at that call"
    W0770 PoorExcitation Input "inputs do not excite a part enough to identify it"
        "A model is identified for sure if the inputs of the part are persistently exciting of an order that goes with its parameters: a constant is of order 1, n sines of order 2 n, and of several inputs all have to vary on their own. Below that several models explain the run equally well; the one that was found holds for signals like those of the run, but may be wrong for others."
        "excite the system: external signals with jumps or more frequencies, a longer run, or a larger step where signals hardly change from step to step"
    W0771 DependentOutputs Input "outputs of a part say the same twice"
        "Identified models take the outputs of a part as its states. An output that is constant, or a linear combination of others, adds nothing: parameters are then not unique, and methods that solve for inputs may become ill-conditioned."
        "connect and identify one of them only, or export the part without the other"
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
