//! Descriptions with one mistake each (rows 9 and 10), and what the validation says.

use costep_core::Code::{
    self, FmuArray, FmuCapability, FmuCausality, FmuClock, FmuDuplicate, FmuName, FmuRange, FmuReference,
    FmuSchema, FmuStart, FmuStructure, FmuType, FmuUnit,
};
use costep_fmu_file::Severity::{self, Error, Warning};

use super::xml::{SMALL_1, SMALL_2, SMALL_3, changed, exchange_1};

/// A mistake: what is replaced by what in the small description of a version, and the finding. Version 0 is
/// 1.0 for Model Exchange.
pub(crate) struct Mistake {
    pub(crate) version: u32,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
    pub(crate) severity: Severity,
    pub(crate) code: Code,
    /// A part of the message.
    pub(crate) says: &'static str,
}

impl Mistake {
    pub(crate) fn text(&self) -> String {
        let exchange = exchange_1();
        let text = match self.version {
            0 => &exchange,
            1 => SMALL_1,
            2 => SMALL_2,
            _ => SMALL_3,
        };
        changed(text, self.from, self.to)
    }
}

const fn m(
    version: u32,
    from: &'static str,
    to: &'static str,
    severity: Severity,
    code: Code,
    says: &'static str,
) -> Mistake {
    Mistake { version, from, to, severity, code, says }
}

// A table is easier to read with one mistake per line.
#[rustfmt::skip]
pub(crate) const MISTAKES: &[Mistake] = &[
    // FMI 1.0.
    m(1, r#" guid="{1}""#, "", Error, FmuSchema, "`guid` is missing"),
    m(0, r#" numberOfContinuousStates="2""#, "", Error, FmuSchema, "`numberOfContinuousStates` is missing"),
    m(0, r#" numberOfEventIndicators="1""#, "", Error, FmuSchema, "`numberOfEventIndicators` is missing"),
    m(0, r#"numberOfContinuousStates="2""#, r#"numberOfContinuousStates="1001""#, Error, FmuRange, "1001 continuous states are not possible"),
    m(0, r#"numberOfContinuousStates="2""#, r#"numberOfContinuousStates="-2""#, Error, FmuSchema, "is `-2`"),
    m(1, r#"numberOfEventIndicators="1""#, r#"numberOfEventIndicators="4000000000""#, Error, FmuRange, "event indicators are not possible"),
    m(1, "<Name>u</Name>", "<Name>w</Name>", Warning, FmuReference, "DirectDependency of `y` names `w`, which does not exist"),
    m(1, r#"name="z" valueReference="3""#, r#"name="z" valueReference="9""#, Warning, FmuDuplicate, "`z` and `v` have the same value reference 9 and neither is an alias"),
    m(1, r#"name="y" valueReference="2""#, r#"name="y" valueReference="22""#, Warning, FmuReference, "`y` is an alias, but no other variable has its value reference 22"),
    m(1, r#"valueReference="7" variability="parameter""#, r#"valueReference="7" variability="parameter" alias="negatedAlias""#, Warning, FmuType, "`mode` is a negated alias of type Enumeration"),
    m(1, r#"alias="negatedAlias"><Real/>"#, r#"alias="opposite"><Real/>"#, Error, FmuSchema, "which is not a valid kind of alias"),
    m(1, r#"variability="constant""#, r#"variability="fixed""#, Error, FmuSchema, "which is not a valid variability"),
    m(1, r#"causality="none""#, r#"causality="local""#, Error, FmuSchema, "which is not a valid causality"),
    m(1, r#"variability="discrete"><Boolean"#, r#"variability="continuous"><Boolean"#, Warning, FmuCausality, "`on` of type Boolean cannot be continuous"),
    m(1, r#"gain="1000""#, r#"gain="0""#, Warning, FmuUnit, "invalid factor or offset"),
    m(1, r#"displayUnit="mm"/>"#, r#"displayUnit="km"/>"#, Warning, FmuUnit, "the display unit `km` of `x` is not defined"),
    m(1, r#"<Item name="a"/>"#, r#"<Item/>"#, Error, FmuSchema, "<Item> has no `name`"),
    m(1, "<RealType ", "<ComplexType ", Error, FmuType, "the type `Length` does not say what it is a type of"),
    m(1, r#"declaredType="Length""#, r#"declaredType="Width""#, Warning, FmuType, "declares the type `Width`, which is not defined"),
    m(1, r#"name="z""#, r#"name="x""#, Error, FmuDuplicate, "the name `x` is used twice"),
    m(1, "<DefaultExperiment ", "<Extra/><DefaultExperiment ", Warning, FmuSchema, "<Extra> is not known inside <fmiModelDescription>"),
    m(1, "<Capabilities ", "<Capabilities canFly=\"true\" ", Warning, FmuSchema, "`canFly` that is not known"),
    m(1, r#"maxOutputDerivativeOrder="1""#, r#"maxOutputDerivativeOrder="x""#, Error, FmuSchema, "is `x`"),
    m(1, "<DirectDependency/>", "<DirectDependency/><Source/>", Warning, FmuSchema, "<Source> is not known inside <ScalarVariable>"),
    m(1, r#"name="text""#, r#"name="v""#, Warning, FmuDuplicate, "the name `v` is used twice"),
    // Row 9: duplicates and references without a target.
    m(2, r#"name="xd""#, r#"name="x""#, Error, FmuDuplicate, "the name `x` is used twice, on line 15 and here"),
    m(3, r#"name="xd""#, r#"name="x""#, Error, FmuDuplicate, "the name `x` is used twice, on line 16 and here"),
    m(3, r#"<Clock name="tick" valueReference="8""#, r#"<Clock name="tick" valueReference="7""#, Error, FmuDuplicate, "`n` and `tick` have the same value reference 7"),
    m(2, r#"name="k" valueReference="4""#, r#"name="k" valueReference="1""#, Error, FmuDuplicate, "can both be set"),
    m(3, r#"derivative="2"/>"#, r#"derivative="2"><Alias name="u"/></Float64>"#, Error, FmuDuplicate, "the name `u` is used twice"),
    m(2, r#"derivative="2""#, r#"derivative="7""#, Error, FmuReference, "`derivative` of `xd` refers to index 7, which does not exist"),
    m(2, r#"derivative="2""#, r#"derivative="0""#, Error, FmuReference, "refers to index 0"),
    m(3, r#"derivative="2""#, r#"derivative="77""#, Error, FmuReference, "`derivative` of `xd` refers to value reference 77"),
    m(2, r#"index="3" dependencies="1 2""#, r#"index="3" dependencies="1 99""#, Error, FmuReference, "`dependencies` of `xd` refers to index 99"),
    m(3, r#"dependencies="1 2""#, r#"dependencies="1 99""#, Error, FmuReference, "refers to value reference 99"),
    m(2, r#"<Derivatives><Unknown index="3""#, r#"<Derivatives><Unknown index="30""#, Error, FmuReference, "`Derivatives` of `ModelStructure` refers to index 30"),
    m(3, r#"<Output valueReference="2""#, r#"<Output valueReference="22""#, Error, FmuReference, "`Output` of `ModelStructure` refers to value reference 22"),
    m(2, r#"<Outputs><Unknown index="2""#, r#"<Outputs><Unknown index="-2""#, Error, FmuSchema, "`index` of <Unknown> `-2` is `-2`"),
    m(2, r#"<Outputs><Unknown index="2""#, r#"<Outputs><Unknown "#, Error, FmuSchema, "has no `index`"),
    m(3, r#"clocks="8""#, r#"clocks="80""#, Error, FmuReference, "`clocks` of `c` refers to value reference 80"),
    m(3, r#"<Dimension valueReference="4"/>"#, r#"<Dimension valueReference="44"/>"#, Error, FmuReference, "`Dimension` of `k` refers to"),
    m(2, r#"declaredType="Length""#, r#"declaredType="Width""#, Warning, FmuType, "declares the type `Width`, which is not defined"),
    m(3, r#"declaredType="Mode""#, r#"declaredType="Length""#, Warning, FmuType, "`mode` is of type Enumeration, its declared type `Length` of Float64"),
    m(2, r#"declaredType="Mode""#, "", Warning, FmuType, "the enumeration `mode` declares no type"),
    m(3, r#"<Item name="b" value="2"/>"#, r#"<Item name="b" value="1"/>"#, Warning, FmuType, "name or value of the item `b` of `Mode` is not unique"),
    m(2, r#"<Item name="a" value="1"/><Item name="b" value="2"/>"#, "", Warning, FmuType, "the enumeration `Mode` has no items"),
    m(2, r#"<SimpleType name="Length">"#, r#"<SimpleType name="Mode">"#, Warning, FmuDuplicate, "the type `Mode` is defined twice"),
    m(3, r#"<Float64Type name="Length""#, r#"<Float64Type name="xd""#, Warning, FmuDuplicate, "`xd` is the name of a type and of a variable"),
    m(2, r#"unit="m" displayUnit="mm""#, r#"unit="ft" displayUnit="mm""#, Warning, FmuUnit, "the unit `ft` of `x` is not defined"),
    m(3, r#"displayUnit="mm""#, r#"displayUnit="in""#, Warning, FmuUnit, "the display unit `in` of `x` is not defined"),
    m(3, r#"unit="m" displayUnit"#, "displayUnit", Warning, FmuUnit, "has a display unit `mm` but no unit"),
    m(2, r#"<BaseUnit m="1"/>"#, r#"<BaseUnit m="1" factor="0"/>"#, Warning, FmuUnit, "invalid factor or offset"),
    // Row 10: combinations, start values, ranges.
    m(2, r#"name="k" valueReference="4" causality="parameter" variability="fixed""#, r#"name="k" valueReference="4" causality="parameter""#, Warning, FmuCausality, "causality `parameter`, variability `continuous` and initial `none` of `k`"),
    m(3, r#"name="u" valueReference="1" causality="input""#, r#"name="u" valueReference="1" causality="input" variability="fixed""#, Warning, FmuCausality, "of `u` are not compatible"),
    m(2, r#"causality="output" variability="discrete"><Integer"#, r#"causality="output"><Integer"#, Warning, FmuCausality, "`n` of type Int32 cannot be continuous"),
    m(3, r#"causality="independent""#, r#"causality="independent" variability="discrete""#, Warning, FmuCausality, "of `time` are not compatible"),
    m(3, r#"name="n" valueReference="7" causality="output""#, r#"name="n" valueReference="7" causality="output" variability="fixed""#, Warning, FmuCausality, "of `n` are not compatible"),
    m(2, r#"causality="input""#, r#"causality="input" initial="approx""#, Warning, FmuCausality, "initial `approx` of `u`"),
    m(3, r#"<Float64 name="time" valueReference="0" causality="independent"/>"#, "", Warning, FmuCausality, "no independent variable"),
    m(3, r#"<Float64 name="xd""#, r#"<Float64 name="t" valueReference="70" causality="independent"/><Float64 name="xd""#, Warning, FmuCausality, "are both independent variables"),
    m(2, r#"<Real start="0" min="-1" max="1"/>"#, r#"<Real min="-1" max="1"/>"#, Warning, FmuStart, "`u` has no start value"),
    m(3, r#"initial="exact" start="1""#, r#"initial="exact""#, Warning, FmuStart, "`x` has no start value"),
    m(2, r#"<Integer/>"#, r#"<Integer start="3"/>"#, Warning, FmuStart, "`n` is calculated but has a start value"),
    m(3, r#"causality="independent""#, r#"causality="independent" start="0""#, Warning, FmuStart, "`time` is the independent variable but has a start value"),
    m(2, r#"min="-1" max="1""#, r#"min="1" max="-1""#, Warning, FmuRange, "min 1 of `u` is larger than max -1"),
    m(3, r#"min="-1" max="1""#, r#"min="-1" max="-0.5""#, Warning, FmuRange, "the start value 0 of `u` is outside"),
    m(2, r#"<Enumeration start="2""#, r#"<Enumeration start="3""#, Warning, FmuRange, "the start value 3 of `mode` is not an item"),
    m(2, r#"nominal="2""#, r#"nominal="0""#, Warning, FmuRange, "the nominal value 0 of `k`"),
    m(2, r#"stepSize="0.1""#, r#"stepSize="-0.1""#, Warning, FmuRange, "`stepSize`"),
    m(2, r#"stopTime="1""#, r#"stopTime="-1""#, Warning, FmuRange, "stops before it starts"),
    // Values that cannot be read.
    m(2, r#"<Real start="0" min"#, r#"<Real start="zero" min"#, Error, FmuSchema, "`start` of <Real> contains `zero`, which is not a valid number"),
    m(3, r#"start="1 2 3""#, r#"start="1 two 3""#, Error, FmuSchema, "contains `two`"),
    m(3, r#"causality="output" initial"#, r#"causality="ouput" initial"#, Error, FmuSchema, "is `ouput`, which is not a valid causality"),
    m(2, r#"variability="discrete""#, r#"variability="sometimes""#, Error, FmuSchema, "is `sometimes`, which is not a valid variability"),
    m(2, r#"<CoSimulation modelIdentifier="Engine"/>"#, r#"<CoSimulation modelIdentifier="Engine" canGetAndSetFMUstate="yes"/>"#, Error, FmuSchema, "is `yes`, which is not a valid Boolean (`true` or `false`)"),
    m(2, r#"numberOfEventIndicators="0""#, r#"numberOfEventIndicators="4000000000""#, Error, FmuRange, "event indicators"),
    m(2, r#"name="xd""#, r#"name="xd" colour="red""#, Warning, FmuSchema, "has an attribute `colour` that is not known here"),
    m(3, r#"<Int32 name="c""#, r#"<Int128 name="d" valueReference="50"/><Int32 name="c""#, Warning, FmuSchema, "<Int128> `d` is not known inside <ModelVariables>"),
    m(2, "<DefaultExperiment", "<Extra/><DefaultExperiment", Warning, FmuSchema, "<Extra> is not known inside <fmiModelDescription>"),
    m(3, r#"<DefaultExperiment startTime="0" stopTime="1"/>"#, r#"<DefaultExperiment stopTime="1"/><LogCategories/>"#, Warning, FmuSchema, "<LogCategories> is not where it belongs"),
    m(2, r#"<Derivatives><Unknown index="3" dependencies="1 2"/></Derivatives>"#, "", Warning, FmuStructure, "no derivative is listed, so that Model Exchange has no states"),
    m(3, r#"<ContinuousStateDerivative valueReference="3" dependencies="1 2"/>"#, "", Warning, FmuStructure, "no derivative is listed, so that Model Exchange has no states"),
    m(2, "<Derivatives>", "<Outputs/><Derivatives>", Warning, FmuSchema, "<Outputs> is not where it belongs"),
    m(3, r#"<Output valueReference="2" dependencies=""/>"#, r#"<InitialUnknown valueReference="9"/><Output valueReference="2"/>"#, Warning, FmuSchema, "<Output> `2` is not where it belongs"),
    m(2, "<ModelVariables>", "<ModelVariables>and so on", Warning, FmuSchema, "there is text where only elements belong"),
    m(2, r#"<CoSimulation modelIdentifier="Engine"/>"#, r#"<CoSimulation modelIdentifier="Engine"><SourceFiles><File/></SourceFiles></CoSimulation>"#, Error, FmuSchema, "<File> has no `name`"),
    m(3, r#" instantiationToken="{1}""#, "", Error, FmuSchema, "`instantiationToken` is missing"),
    m(2, r#" guid="{1}""#, "", Error, FmuSchema, "`guid` is missing"),
    // Structure.
    m(2, r#"dependencies="1" dependenciesKind="dependent""#, r#"dependencies="1" dependenciesKind="dependent fixed""#, Warning, FmuStructure, "of `n` differ in length"),
    m(3, r#"dependencies="1" dependenciesKind="dependent""#, r#"dependenciesKind="dependent""#, Warning, FmuStructure, "`n` has `dependenciesKind` but no `dependencies`"),
    m(3, r#"dependenciesKind="dependent""#, r#"dependenciesKind="maybe""#, Error, FmuSchema, "contains `maybe`"),
    m(2, r#"<Unknown index="6" dependencies="1" dependenciesKind="dependent"/>"#, "", Warning, FmuStructure, "not listed among the outputs: `n`"),
    m(3, r#"<Output valueReference="2" dependencies=""/>"#, r#"<Output valueReference="1"/><Output valueReference="2"/>"#, Warning, FmuStructure, "`u` is listed among the outputs but is `input`"),
    m(2, r#"<Unknown index="2" dependencies=""/>"#, r#"<Unknown index="2"/><Unknown index="2"/>"#, Warning, FmuStructure, "`x` is twice among the outputs"),
    m(2, r#"<Real derivative="2"/>"#, "<Real/>", Error, FmuStructure, "`xd` is listed among the derivatives but does not say of which state"),
    m(3, r#"<InitialUnknown valueReference="7"/>"#, "", Warning, FmuStructure, "not listed among the initial unknowns: `n`"),
    m(2, r#"<InitialUnknowns><Unknown index="3"/>"#, r#"<InitialUnknowns><Unknown index="1"/><Unknown index="3"/>"#, Warning, FmuStructure, "`u` is not an unknown of the initialisation"),
    m(3, r#"<InitialUnknown valueReference="3"/>"#, r#"<InitialUnknown valueReference="3" dependencies="1" dependenciesKind="tunable"/>"#, Warning, FmuStructure, "has a kind that is not allowed at initialisation"),
    m(3, r#"name="x" valueReference="2" causality="output""#, r#"name="x" valueReference="2" causality="output" variability="discrete""#, Warning, FmuStructure, "the state `x` is not a continuous"),
    m(3, r#"derivative="2"/>"#, r#"derivative="2"><Dimension start="2"/></Float64>"#, Error, FmuStructure, "the state `x` and its derivative `xd` differ in type or size"),
    m(3, r#"<InitialUnknown valueReference="3"/>"#, r#"<InitialUnknown valueReference="3"/><EventIndicator valueReference="9"/>"#, Warning, FmuStructure, "the event indicator `c` is not a continuous number"),
    m(3, r#"<InitialUnknown valueReference="3"/>"#, r#"<InitialUnknown valueReference="3"/><ClockedState valueReference="9"/>"#, Warning, FmuStructure, "the clocked state `c` has no clock or no previous value"),
    m(2, r#"<Unknown index="2" dependencies=""/>"#, r#"<Unknown index="2" dependencies="1 1 1 1 1 1 1 1"/>"#, Error, FmuStructure, "more dependencies than there are variables"),
    // Arrays and clocks.
    m(3, r#"start="1 2 3""#, r#"start="1 2""#, Warning, FmuArray, "`k` has 2 start values for 3 elements"),
    m(2, r#"<Real start="0" min"#, r#"<Real start="0 0" min"#, Warning, FmuArray, "`u` has 2 start values for 1 elements"),
    m(3, r#"<Dimension valueReference="4"/>"#, r#"<Dimension valueReference="7"/>"#, Error, FmuArray, "a size that is not the start value of a UInt64"),
    m(3, r#"<Dimension valueReference="4"/>"#, r#"<Dimension valueReference="4" start="3"/>"#, Error, FmuArray, "needs either a size or a value reference"),
    m(3, r#"<Dimension valueReference="4"/>"#, "<Dimension/>", Error, FmuArray, "needs either a size or a value reference"),
    m(3, r#"<Dimension valueReference="4"/>"#, r#"<Dimension start="0"/>"#, Error, FmuArray, "has the size 0"),
    m(3, r#"<Dimension valueReference="4"/>"#, r#"<Dimension start="4000000000"/><Dimension start="5000000000"/>"#, Error, FmuArray, "makes the array too large"),
    m(3, r#"causality="structuralParameter""#, r#"causality="parameter""#, Warning, FmuArray, "is neither a structural parameter nor a constant"),
    m(3, r#"intervalVariability="constant" intervalDecimal="0.1""#, r#"intervalVariability="constant""#, Warning, FmuClock, "is periodic and has no `intervalDecimal`"),
    m(3, r#"intervalVariability="constant" intervalDecimal="0.1""#, r#"intervalVariability="triggered" intervalDecimal="0.1""#, Warning, FmuClock, "has an interval but is not periodic"),
    m(3, r#"intervalDecimal="0.1""#, r#"intervalDecimal="-0.1""#, Warning, FmuClock, "has an interval that is not positive"),
    m(3, r#"intervalVariability="constant" intervalDecimal="0.1""#, "", Warning, FmuClock, "does not say when it ticks"),
    m(3, r#"clocks="8""#, r#"clocks="1""#, Warning, FmuClock, "`u`, a clock of `c`, is not a clock"),
    m(3, r#"clocks="8""#, r#"clocks="8" previous="9""#, Warning, FmuClock, "`c` is its own previous value"),
    m(3, r#"name="u" valueReference="1""#, r#"name="u" clocks="8" valueReference="1""#, Warning, FmuClock, "`u` has clocks but is neither discrete nor tunable"),
    m(3, r#"<Int32 name="c""#, r#"<Int32 intermediateUpdate="true" name="c""#, Warning, FmuCapability, "has intermediate updates but is not continuous"),
    // Interfaces and names.
    m(2, r#"<CoSimulation modelIdentifier="Engine"/>"#, r#"<CoSimulation modelIdentifier="Engine" canSerializeFMUstate="true"/>"#, Warning, FmuCapability, "can be serialised but not be read"),
    m(3, r#"<CoSimulation modelIdentifier="Engine"/>"#, r#"<CoSimulation modelIdentifier="Engine" canReturnEarlyAfterIntermediateUpdate="true"/>"#, Warning, FmuCapability, "but there is none"),
    m(3, r#"<CoSimulation modelIdentifier="Engine"/>"#, r#"<CoSimulation modelIdentifier="Engine" fixedInternalStepSize="0"/>"#, Warning, FmuRange, "`fixedInternalStepSize` is not positive"),
    m(3, "<ModelExchange modelIdentifier=\"Engine\"/>\n  <CoSimulation modelIdentifier=\"Engine\"/>", "", Error, FmuCapability, "neither for Co-Simulation nor for Model Exchange"),
    m(2, r#" guid="{1}""#, r#" guid="{1}" variableNamingConvention="pretty""#, Error, FmuSchema, "which is not a valid naming convention"),
    m(3, r#"name="xd""#, r#"name="""#, Warning, FmuName, "the name `` is empty"),
    m(3, r#"name="xd""#, r#"name="x&#10;d""#, Warning, FmuName, "contains a line break or tab"),
];
