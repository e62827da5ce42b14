//! Model descriptions for tests: realistic ones, and pieces to build faulty ones from.

/// FMI 2.0, Co-Simulation and Model Exchange: units, types, an enumeration, states, dependencies.
pub(crate) const ENGINE_2: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription
  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
  fmiVersion="2.0"
  modelName="Plant.Engine"
  guid="{8c4e810f-3df3-4a00-8276-176fa3c9f000}"
  description="Engine with a shaft &amp; a clutch"
  author="J. D&#246;e"
  version="1.2"
  generationTool="Some Tool 3.1"
  generationDateAndTime="2026-01-02T03:04:05Z"
  variableNamingConvention="structured"
  numberOfEventIndicators="2">
  <CoSimulation modelIdentifier="Engine" canHandleVariableCommunicationStepSize="true"
    canInterpolateInputs="1" maxOutputDerivativeOrder="2" canRunAsynchronuously="false"
    canGetAndSetFMUstate="true" canSerializeFMUstate="true" providesDirectionalDerivative="true">
    <SourceFiles><File name="all.c"/></SourceFiles>
  </CoSimulation>
  <ModelExchange modelIdentifier="Engine" completedIntegratorStepNotNeeded="true"
    canBeInstantiatedOnlyOncePerProcess="true" canNotUseMemoryManagementFunctions="true"
    needsExecutionTool="false"/>
  <UnitDefinitions>
    <Unit name="rad/s"><BaseUnit s="-1" rad="1"/><DisplayUnit name="rpm" factor="9.549296585513721"/></Unit>
    <Unit name="N.m"><BaseUnit kg="1" m="2" s="-2"/></Unit>
    <Unit name="degC"><BaseUnit K="1" factor="1.0" offset="273.15"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Torque" description="Torque of a shaft">
      <Real quantity="Torque" unit="N.m" min="-500" max="500" nominal="100"/>
    </SimpleType>
    <SimpleType name="Gear">
      <Enumeration quantity="gear">
        <Item name="neutral" value="0" description="no torque"/>
        <Item name="first" value="1"/>
      </Enumeration>
    </SimpleType>
  </TypeDefinitions>
  <LogCategories><Category name="logEvents" description="events"/><Category name="logAll"/></LogCategories>
  <DefaultExperiment startTime="0" stopTime="10.5" tolerance="1e-6" stepSize="0.001"/>
  <VendorAnnotations><Tool name="x"><y z="1"><deep/></y></Tool></VendorAnnotations>
  <ModelVariables>
    <ScalarVariable name="time" valueReference="0" causality="independent">
      <Real/>
    </ScalarVariable>
    <ScalarVariable name="load" valueReference="1" causality="input" description="torque on the shaft">
      <Real declaredType="Torque" start="-2.5" max="400"/>
    </ScalarVariable>
    <ScalarVariable name="gear" valueReference="2" causality="input" variability="discrete"
      canHandleMultipleSetPerTimeInstant="false">
      <Enumeration declaredType="Gear" start="1"/>
    </ScalarVariable>
    <ScalarVariable name="speed" valueReference="3" causality="output" initial="exact">
      <Real unit="rad/s" displayUnit="rpm" start="100" reinit="true" unbounded="true"/>
      <Annotations><Tool name="x"/></Annotations>
    </ScalarVariable>
    <ScalarVariable name="der(speed)" valueReference="4">
      <Real derivative="4"/>
    </ScalarVariable>
    <ScalarVariable name="temperature" valueReference="5" causality="output">
      <Real unit="degC" relativeQuantity="false"/>
    </ScalarVariable>
    <ScalarVariable name="inertia" valueReference="6" causality="parameter" variability="fixed">
      <Real start="0.25" min="0"/>
    </ScalarVariable>
    <ScalarVariable name="cylinders" valueReference="1" causality="parameter" variability="tunable">
      <Integer start="6" min="1" max="12"/>
    </ScalarVariable>
    <ScalarVariable name="turbo" valueReference="1" causality="parameter" variability="fixed">
      <Boolean start="true"/>
    </ScalarVariable>
    <ScalarVariable name="label" valueReference="1" causality="parameter" variability="fixed">
      <String start="a &lt; b  c"/>
    </ScalarVariable>
    <ScalarVariable name="shaft.w" valueReference="3" causality="local">
      <Real unit="rad/s"/>
    </ScalarVariable>
    <ScalarVariable name="power" valueReference="7" causality="calculatedParameter" variability="fixed">
      <Real/>
    </ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs>
      <Unknown index="4" dependencies=""/>
      <Unknown index="6"/>
    </Outputs>
    <Derivatives>
      <Unknown index="5" dependencies="2 4" dependenciesKind="constant dependent"/>
    </Derivatives>
    <InitialUnknowns>
      <Unknown index="5" dependencies="2 4 7"/>
      <Unknown index="6" dependencies="2" dependenciesKind="dependent"/>
      <Unknown index="12"/>
    </InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"#;

/// FMI 3.0, all three kinds: arrays, structural parameters, clocks, aliases, strings and bytes.
pub(crate) const ENGINE_3: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Engine" instantiationToken="{token 3}"
  description="Engine of FMI 3" license="BSD" copyright="(c)">
  <ModelExchange modelIdentifier="Engine" needsCompletedIntegratorStep="true"
    providesEvaluateDiscreteStates="true" providesAdjointDerivatives="true"/>
  <CoSimulation modelIdentifier="Engine" canGetAndSetFMUState="true" canSerializeFMUState="true"
    providesDirectionalDerivatives="true" providesPerElementDependencies="true"
    canHandleVariableCommunicationStepSize="true" fixedInternalStepSize="0.01" maxOutputDerivativeOrder="1"
    recommendedIntermediateInputSmoothness="-1" providesIntermediateUpdate="true"
    mightReturnEarlyFromDoStep="true" canReturnEarlyAfterIntermediateUpdate="true" hasEventMode="true"
    aFlagOfTheFuture="true"/>
  <ScheduledExecution modelIdentifier="Engine"/>
  <UnitDefinitions>
    <Unit name="L/100km"><BaseUnit m="2" factor="1e-8"/>
      <DisplayUnit name="mpg" inverse="true" factor="235.214583"/></Unit>
    <Unit name="Euro"/>
  </UnitDefinitions>
  <TypeDefinitions>
    <Float64Type name="Consumption" unit="L/100km" displayUnit="mpg" nominal="8" quantity="consumption"/>
    <EnumerationType name="Mode" min="1" max="2"><Item name="eco" value="1"/><Item name="sport" value="2"/>
    </EnumerationType>
    <Int16Type name="Small" min="-5" max="5"/>
    <BinaryType name="Frame" mimeType="application/x-frame" maxSize="8"/>
    <ClockType name="Tick" intervalVariability="constant" intervalDecimal="0.5" priority="3"/>
  </TypeDefinitions>
  <DefaultExperiment stopTime="2"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent" variability="continuous"/>
    <UInt64 name="n" valueReference="1" causality="structuralParameter" variability="tunable" start="2" min="0" max="9"/>
    <Float64 name="A" valueReference="2" causality="parameter" variability="tunable" start="1 2.5 -3 INF 5 6">
      <Dimension valueReference="1"/><Dimension start="3"/></Float64>
    <Float64 name="x" valueReference="3" start="7" initial="exact" intermediateUpdate="true" unit="L/100km">
      <Dimension valueReference="1"/>
      <Alias name="state" description="the state"/><Alias name="state2" displayUnit="mpg"/></Float64>
    <Float64 name="der(x)" valueReference="4" derivative="3"><Dimension valueReference="1"/></Float64>
    <Float32 name="u" valueReference="5" causality="input" start="0.1"/>
    <Float64 name="y" valueReference="6" causality="output" declaredType="Consumption" max="20"/>
    <Int16 name="i16" valueReference="7" causality="parameter" start="-3" declaredType="Small"/>
    <Int8 name="i8" valueReference="8" causality="parameter" start="-128 127"><Dimension start="2"/></Int8>
    <UInt64 name="u64" valueReference="9" causality="parameter" start="18446744073709551615"/>
    <Boolean name="b" valueReference="10" causality="parameter" start="true 0 1 false">
      <Dimension start="2"/><Dimension start="2"/></Boolean>
    <String name="s" valueReference="11" causality="parameter"><Dimension start="2"/>
      <Start value="one two"/><Start value=""/></String>
    <Binary name="bin" valueReference="12" causality="input" declaredType="Frame" clocks="14">
      <Start value="3c3F"/></Binary>
    <Enumeration name="mode" valueReference="13" causality="parameter" declaredType="Mode" start="2"/>
    <Clock name="tick" valueReference="14" causality="input" declaredType="Tick" intervalVariability="constant"/>
    <Clock name="fired" valueReference="15" causality="output" intervalVariability="triggered" clocks="14"/>
    <Int32 name="count" valueReference="16" clocks="14" previous="17" initial="exact" start="0"/>
    <Int32 name="before" valueReference="17" clocks="14" initial="exact" start="0"/>
    <Float64 name="z" valueReference="18">
      <Annotations><Annotation type="org.example"><a b="c"/></Annotation></Annotations></Float64>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="6" dependencies="5 3" dependenciesKind="constant dependent"/>
    <Output valueReference="15" dependencies="14"/>
    <ContinuousStateDerivative valueReference="4" dependencies="2 3 5"/>
    <ClockedState valueReference="16"/>
    <InitialUnknown valueReference="4"/>
    <InitialUnknown valueReference="6" dependencies=""/>
    <EventIndicator valueReference="18" dependencies="3"/>
  </ModelStructure>
  <Annotations><Annotation type="org.example">text &amp; &#65; <![CDATA[<x>]]></Annotation></Annotations>
</fmiModelDescription>
"#;

/// A small sound description of FMI 1.0 for Co-Simulation, to be changed in one place.
pub(crate) const SMALL_1: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="1.0" modelName="Small" modelIdentifier="Engine" guid="{1}" numberOfContinuousStates="2" numberOfEventIndicators="1">
  <UnitDefinitions>
    <BaseUnit unit="m"><DisplayUnitDefinition displayUnit="mm" gain="1000" offset="0"/></BaseUnit>
  </UnitDefinitions>
  <TypeDefinitions>
    <Type name="Length"><RealType unit="m" min="-9"/></Type>
    <Type name="Mode"><EnumerationType><Item name="a"/><Item name="b" description="second"/></EnumerationType></Type>
  </TypeDefinitions>
  <DefaultExperiment startTime="0" stopTime="1" tolerance="1e-4"/>
  <VendorAnnotations><Tool name="x"><Annotation name="a" value="b"/></Tool></VendorAnnotations>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="1" causality="input"><Real start="0" min="-1" max="1"/></ScalarVariable>
    <ScalarVariable name="x" valueReference="2" causality="output"><Real start="1" fixed="false" unit="m" displayUnit="mm"/><DirectDependency/></ScalarVariable>
    <ScalarVariable name="y" valueReference="2" causality="output" alias="negatedAlias"><Real/><DirectDependency><Name>u</Name></DirectDependency></ScalarVariable>
    <ScalarVariable name="z" valueReference="3" causality="output"><Real declaredType="Length" unit="N"/></ScalarVariable>
    <ScalarVariable name="v" valueReference="9"><Real start="3"/></ScalarVariable>
    <ScalarVariable name="k" valueReference="4" variability="parameter" causality="internal"><Real start="2" nominal="-2" fixed="false"/></ScalarVariable>
    <ScalarVariable name="-k" valueReference="4" variability="parameter" causality="input" alias="negatedAlias"><Real start="-2"/></ScalarVariable>
    <ScalarVariable name="kk" valueReference="5" variability="parameter"><Real/></ScalarVariable>
    <ScalarVariable name="c" valueReference="6" variability="constant" causality="none"><Integer start="7"/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="7" variability="parameter"><Enumeration start="2" declaredType="Mode"/></ScalarVariable>
    <ScalarVariable name="n" valueReference="8" causality="output"><Integer/></ScalarVariable>
    <ScalarVariable name="on" valueReference="1" causality="input" variability="discrete"><Boolean/></ScalarVariable>
    <ScalarVariable name="text" valueReference="1" variability="discrete"><String start="t"/></ScalarVariable>
  </ModelVariables>
  <Implementation>
    <CoSimulation_StandAlone>
      <Capabilities canHandleVariableCommunicationStepSize="true" canInterpolateInputs="true" maxOutputDerivativeOrder="1" canBeInstantiatedOnlyOncePerProcess="1" canHandleEvents="true" canRejectSteps="false"/>
    </CoSimulation_StandAlone>
  </Implementation>
</fmiModelDescription>
"#;

/// The same for Model Exchange, which has no implementation.
pub(crate) fn exchange_1() -> String {
    let start = SMALL_1.find("  <Implementation>").unwrap();
    format!("{}</fmiModelDescription>", &SMALL_1[..start])
}

/// A small sound description of FMI 2.0, to be changed in one place.
pub(crate) const SMALL_2: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="2.0" modelName="Small" guid="{1}" numberOfEventIndicators="0">
  <ModelExchange modelIdentifier="Engine"/>
  <CoSimulation modelIdentifier="Engine"/>
  <UnitDefinitions>
    <Unit name="m"><BaseUnit m="1"/><DisplayUnit name="mm" factor="1000"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <SimpleType name="Length"><Real unit="m"/></SimpleType>
    <SimpleType name="Mode"><Enumeration><Item name="a" value="1"/><Item name="b" value="2"/></Enumeration></SimpleType>
  </TypeDefinitions>
  <DefaultExperiment startTime="0" stopTime="1" tolerance="1e-4" stepSize="0.1"/>
  <ModelVariables>
    <ScalarVariable name="u" valueReference="1" causality="input"><Real start="0" min="-1" max="1"/></ScalarVariable>
    <ScalarVariable name="x" valueReference="2" causality="output" initial="exact"><Real start="1" unit="m" displayUnit="mm"/></ScalarVariable>
    <ScalarVariable name="xd" valueReference="3"><Real derivative="2"/></ScalarVariable>
    <ScalarVariable name="k" valueReference="4" causality="parameter" variability="fixed"><Real start="2" nominal="2" declaredType="Length"/></ScalarVariable>
    <ScalarVariable name="mode" valueReference="5" causality="parameter" variability="fixed"><Enumeration start="2" declaredType="Mode"/></ScalarVariable>
    <ScalarVariable name="n" valueReference="6" causality="output" variability="discrete"><Integer/></ScalarVariable>
  </ModelVariables>
  <ModelStructure>
    <Outputs><Unknown index="2" dependencies=""/><Unknown index="6" dependencies="1" dependenciesKind="dependent"/></Outputs>
    <Derivatives><Unknown index="3" dependencies="1 2"/></Derivatives>
    <InitialUnknowns><Unknown index="3"/><Unknown index="6"/></InitialUnknowns>
  </ModelStructure>
</fmiModelDescription>
"#;

/// A small sound description of FMI 3.0, to be changed in one place.
pub(crate) const SMALL_3: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription fmiVersion="3.0" modelName="Small" instantiationToken="{1}">
  <ModelExchange modelIdentifier="Engine"/>
  <CoSimulation modelIdentifier="Engine"/>
  <UnitDefinitions>
    <Unit name="m"><BaseUnit m="1"/><DisplayUnit name="mm" factor="1000"/></Unit>
  </UnitDefinitions>
  <TypeDefinitions>
    <Float64Type name="Length" unit="m"/>
    <EnumerationType name="Mode"><Item name="a" value="1"/><Item name="b" value="2"/></EnumerationType>
  </TypeDefinitions>
  <DefaultExperiment startTime="0" stopTime="1"/>
  <ModelVariables>
    <Float64 name="time" valueReference="0" causality="independent"/>
    <Float64 name="u" valueReference="1" causality="input" start="0" min="-1" max="1"/>
    <Float64 name="x" valueReference="2" causality="output" initial="exact" start="1" unit="m" displayUnit="mm"/>
    <Float64 name="xd" valueReference="3" derivative="2"/>
    <UInt64 name="size" valueReference="4" causality="structuralParameter" start="3"/>
    <Float64 name="k" valueReference="5" causality="parameter" start="1 2 3" declaredType="Length"><Dimension valueReference="4"/></Float64>
    <Enumeration name="mode" valueReference="6" causality="parameter" start="2" declaredType="Mode"/>
    <Int32 name="n" valueReference="7" causality="output"/>
    <Clock name="tick" valueReference="8" causality="input" intervalVariability="constant" intervalDecimal="0.1"/>
    <Int32 name="c" valueReference="9" clocks="8"/>
  </ModelVariables>
  <ModelStructure>
    <Output valueReference="2" dependencies=""/>
    <Output valueReference="7" dependencies="1" dependenciesKind="dependent"/>
    <ContinuousStateDerivative valueReference="3" dependencies="1 2"/>
    <InitialUnknown valueReference="3"/>
    <InitialUnknown valueReference="7"/>
  </ModelStructure>
</fmiModelDescription>
"#;

/// Replaces the only occurrence of a piece.
pub(crate) fn changed(text: &str, from: &str, to: &str) -> String {
    assert_eq!(text.matches(from).count(), 1, "`{from}`");
    text.replace(from, to)
}
