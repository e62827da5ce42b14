//! Calls into FMUs by name.

macro_rules! calls {
    ($($name:ident $version1:literal $version2:literal $version3:literal)*) => {
        /// A call into an FMU, as a small number that fits into the status of a process.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Call {
            /// Loading its library: its initialisers run.
            Load = 1,
            /// Unloading its library: its finalisers run.
            Unload,
            /// Any call, done by another process.
            Elsewhere,
            $(#[doc = $version3] $name),*
        }

        impl Call {
            const ALL: &'static [Self] = &[Self::Load, Self::Unload, Self::Elsewhere, $(Self::$name),*];

            /// Its name without the prefix of the version.
            pub fn name(self, version: u32) -> &'static str {
                match self {
                    Self::Load => "loading its library",
                    Self::Unload => "unloading its library",
                    Self::Elsewhere => "its own process",
                    $(Self::$name => match version {
                        1 => $version1,
                        2 => $version2,
                        _ => $version3,
                    }),*
                }
            }
        }
    };
}

// Names in FMI 1, 2 and 3; the last ones are of FMI 1 alone.
calls! {
    Instantiate "InstantiateSlave" "Instantiate" "InstantiateCoSimulation"
    InstantiateExchange "InstantiateModel" "Instantiate" "InstantiateModelExchange"
    SetupExperiment "SetupExperiment" "SetupExperiment" "SetupExperiment"
    EnterInitialization "EnterInitializationMode" "EnterInitializationMode" "EnterInitializationMode"
    ExitInitialization "ExitInitializationMode" "ExitInitializationMode" "ExitInitializationMode"
    Configuration "EnterConfigurationMode" "EnterConfigurationMode" "EnterConfigurationMode"
    Reset "ResetSlave" "Reset" "Reset"
    Terminate "TerminateSlave" "Terminate" "Terminate"
    FreeInstance "FreeSlaveInstance" "FreeInstance" "FreeInstance"
    GetReals "GetReal" "GetReal" "GetFloat64"
    SetReals "SetReal" "SetReal" "SetFloat64"
    GetValues "Get" "Get" "Get"
    SetValues "Set" "Set" "Set"
    SetInputDerivatives "SetRealInputDerivatives" "SetRealInputDerivatives" "SetRealInputDerivatives"
    GetOutputDerivatives "GetRealOutputDerivatives" "GetRealOutputDerivatives" "GetOutputDerivatives"
    DoStep "DoStep" "DoStep" "DoStep"
    GetStatus "GetRealStatus" "GetRealStatus" "GetRealStatus"
    CancelStep "CancelStep" "CancelStep" "CancelStep"
    GetState "GetFMUstate" "GetFMUstate" "GetFMUState"
    SetState "SetFMUstate" "SetFMUstate" "SetFMUState"
    FreeState "FreeFMUstate" "FreeFMUstate" "FreeFMUState"
    SerializeState "SerializeFMUstate" "SerializeFMUstate" "SerializeFMUState"
    DeserializeState "DeSerializeFMUstate" "DeSerializeFMUstate" "DeserializeFMUState"
    Directional "GetDirectionalDerivative" "GetDirectionalDerivative" "GetDirectionalDerivative"
    Adjoint "GetAdjointDerivative" "GetAdjointDerivative" "GetAdjointDerivative"
    EnterEventMode "EnterEventMode" "EnterEventMode" "EnterEventMode"
    UpdateDiscreteStates "EventUpdate" "NewDiscreteStates" "UpdateDiscreteStates"
    EnterStepMode "EnterStepMode" "EnterStepMode" "EnterStepMode"
    SetClock "SetClock" "SetClock" "SetClock"
    GetInterval "GetIntervalDecimal" "GetIntervalDecimal" "GetIntervalDecimal"
    EnterContinuousTime "EnterContinuousTimeMode" "EnterContinuousTimeMode" "EnterContinuousTimeMode"
    SetTime "SetTime" "SetTime" "SetTime"
    SetContinuousStates "SetContinuousStates" "SetContinuousStates" "SetContinuousStates"
    GetContinuousStates "GetContinuousStates" "GetContinuousStates" "GetContinuousStates"
    GetDerivatives "GetDerivatives" "GetDerivatives" "GetContinuousStateDerivatives"
    GetEventIndicators "GetEventIndicators" "GetEventIndicators" "GetEventIndicators"
    CompletedStep "CompletedIntegratorStep" "CompletedIntegratorStep" "CompletedIntegratorStep"
    GetNominals "GetNominalContinuousStates" "GetNominalsOfContinuousStates" "GetNominalsOfContinuousStates"
    InitializeSlave "InitializeSlave" "InitializeSlave" "InitializeSlave"
    InitializeModel "Initialize" "Initialize" "Initialize"
    EventUpdate "EventUpdate" "EventUpdate" "EventUpdate"
    TerminateModel "Terminate" "Terminate" "Terminate"
    FreeModel "FreeModelInstance" "FreeModelInstance" "FreeModelInstance"
    GetStateReferences "GetStateValueReferences" "GetStateValueReferences" "GetStateValueReferences"
}

impl Call {
    /// The call of a number, if there is one.
    pub(super) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Its name in the standard: `fmi2DoStep`.
    pub fn full_name(self, version: u32) -> String {
        match self {
            Self::Load | Self::Unload | Self::Elsewhere => self.name(version).to_owned(),
            // FMI 1 has no number in its names.
            _ if version == 1 => format!("fmi{}", self.name(version)),
            _ => format!("fmi{version}{}", self.name(version)),
        }
    }

    /// Whether the FMU is being ended, for which less time is allowed.
    pub fn is_ending(self) -> bool {
        matches!(
            self,
            Self::Terminate | Self::TerminateModel | Self::FreeInstance | Self::FreeModel | Self::Unload
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_list() {
        for call in Call::ALL {
            assert_eq!(Call::from_number(*call as u8), Some(*call));
        }
        assert_eq!(Call::from_number(0), None);
        assert_eq!(Call::from_number(255), None);
        assert_eq!(Call::DoStep.full_name(3), "fmi3DoStep");
        assert_eq!(Call::GetReals.full_name(2), "fmi2GetReal");
        assert_eq!(Call::DoStep.full_name(1), "fmiDoStep");
        assert_eq!(Call::Terminate.full_name(1), "fmiTerminateSlave");
    }
}
