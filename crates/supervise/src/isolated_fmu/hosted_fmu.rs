//! What a process is told about the FMU it is to host.

use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use costep_core::{Code, Error, PortSize, Result, StateReader, StateWriter};
use costep_fmi::{CoSimulationOptions, InputRouting, ModelExchangeOptions, SignalVariations};
use costep_fmu_file::Values;
use costep_integrate::Solver;

use super::IsolatedUse;

/// An FMU and how to use it.
pub(super) struct HostedFmu {
    pub(super) path: PathBuf,
    /// Where it is unpacked.
    pub(super) folder: PathBuf,
    /// The folder that it may write to, if it is confined.
    pub(super) scratch: Option<PathBuf>,
    pub(super) name: String,
    pub(super) usage: IsolatedUse,
}

impl HostedFmu {
    pub(super) fn write(&self) -> Vec<u8> {
        let mut out = StateWriter::default();
        out.block(self.path.as_os_str().as_bytes());
        out.block(self.folder.as_os_str().as_bytes());
        out.block(self.scratch.as_deref().unwrap_or(Path::new("")).as_os_str().as_bytes());
        out.block(self.name.as_bytes());
        match &self.usage {
            IsolatedUse::CoSimulation(options) => {
                let CoSimulationOptions {
                    parameters,
                    input_order,
                    tolerance,
                    logging,
                    step_timeout,
                    retry_discarded,
                    routing,
                    variations,
                    sizes,
                } = options;
                out.integer(0);
                write_common(&mut out, parameters, *logging, *step_timeout);
                write_routing(&mut out, routing);
                write_variations(&mut out, variations);
                write_sizes(&mut out, sizes);
                optional(&mut out, input_order.map(|order| order as u64));
                optional(&mut out, tolerance.map(f64::to_bits));
                out.integer((*retry_discarded).into());
            }
            IsolatedUse::ModelExchange(options) => {
                let ModelExchangeOptions {
                    parameters,
                    solver,
                    logging,
                    step_timeout,
                    routing,
                    variations,
                    sizes,
                } = options;
                out.integer(1);
                write_common(&mut out, parameters, *logging, *step_timeout);
                write_routing(&mut out, routing);
                write_variations(&mut out, variations);
                write_sizes(&mut out, sizes);
                out.block(solver.label().as_bytes());
            }
        }
        out.into_bytes()
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self> {
        let from = &mut StateReader::new(bytes);
        let path = |bytes: &[u8]| PathBuf::from(std::ffi::OsString::from_vec(bytes.to_vec()));
        let (file, folder, scratch) = (path(from.block()?), path(from.block()?), path(from.block()?));
        let scratch = Some(scratch).filter(|scratch| !scratch.as_os_str().is_empty());
        let name = text(from.block()?)?;
        let is_exchange = from.index(2)? == 1;
        let (parameters, logging, step_timeout) = read_common(from)?;
        let routing = read_routing(from)?;
        let variations = read_variations(from)?;
        let sizes = read_sizes(from)?;
        let usage = if is_exchange {
            let solver = Solver::parse(&text(from.block()?)?, 0.0)?;
            IsolatedUse::ModelExchange(ModelExchangeOptions {
                parameters,
                solver,
                logging,
                step_timeout,
                routing,
                variations,
                sizes,
            })
        } else {
            IsolatedUse::CoSimulation(CoSimulationOptions {
                parameters,
                logging,
                step_timeout,
                routing,
                variations,
                sizes,
                input_order: read_optional(from)?.map(|order| order as usize),
                tolerance: read_optional(from)?.map(f64::from_bits),
                retry_discarded: from.index(2)? == 1,
            })
        };
        Ok(Self { path: file, folder, scratch, name, usage })
    }
}

type Common = (Vec<(String, Values)>, Option<bool>, Option<Duration>);

fn write_common(
    out: &mut StateWriter,
    parameters: &[(String, Values)],
    logging: Option<bool>,
    limit: Option<Duration>,
) {
    out.integer(parameters.len() as u64);
    for (name, values) in parameters {
        out.block(name.as_bytes());
        write_values(out, values);
    }
    optional(out, logging.map(u64::from));
    optional(out, limit.map(|limit| limit.as_nanos() as u64));
}

fn read_common(from: &mut StateReader<'_>) -> Result<Common> {
    let mut parameters = Vec::new();
    for _ in 0..from.integer()? {
        parameters.push((text(from.block()?)?, read_values(from)?));
    }
    let logging = read_optional(from)?.map(|logging| logging > 0);
    Ok((parameters, logging, read_optional(from)?.map(Duration::from_nanos)))
}

fn write_names(out: &mut StateWriter, names: &[String]) {
    out.integer(names.len() as u64);
    names.iter().for_each(|name| out.block(name.as_bytes()));
}

fn read_names(from: &mut StateReader<'_>) -> Result<Vec<String>> {
    let count = from.integer()?;
    (0..count).map(|_| text(from.block()?)).collect()
}

fn write_variations(out: &mut StateWriter, variations: &SignalVariations) {
    write_names(out, &variations.continuous);
    write_names(out, &variations.discrete);
}

fn read_variations(from: &mut StateReader<'_>) -> Result<SignalVariations> {
    Ok(SignalVariations { continuous: read_names(from)?, discrete: read_names(from)? })
}

fn write_sizes(out: &mut StateWriter, sizes: &[PortSize]) {
    out.integer(sizes.len() as u64);
    for PortSize { port, nominal, min, max } in sizes {
        out.block(port.as_bytes());
        [nominal, min, max].into_iter().for_each(|value| optional(out, value.map(f64::to_bits)));
    }
}

fn read_sizes(from: &mut StateReader<'_>) -> Result<Vec<PortSize>> {
    let count = from.integer()?;
    let read = |from: &mut StateReader<'_>| -> Result<PortSize> {
        let port = text(from.block()?)?;
        let mut number = || Ok::<_, Error>(read_optional(from)?.map(f64::from_bits));
        Ok(PortSize { port, nominal: number()?, min: number()?, max: number()? })
    };
    (0..count).map(|_| read(from)).collect()
}

fn write_routing(out: &mut StateWriter, routing: &InputRouting) {
    write_names(out, &routing.open);
    write_names(out, &routing.tuned);
    out.integer(routing.maps.len() as u64);
    for (name, entries) in &routing.maps {
        out.block(name.as_bytes());
        out.integer(entries.len() as u64);
        for (source, target) in entries {
            out.real(*source);
            out.real(*target);
        }
    }
}

fn read_routing(from: &mut StateReader<'_>) -> Result<InputRouting> {
    let mut routing = InputRouting { open: read_names(from)?, tuned: read_names(from)?, maps: Vec::new() };
    for _ in 0..from.integer()? {
        let name = text(from.block()?)?;
        let count = from.integer()?;
        let entries = (0..count).map(|_| Ok((from.real()?, from.real()?))).collect::<Result<_>>()?;
        routing.maps.push((name, entries));
    }
    Ok(routing)
}

fn optional(out: &mut StateWriter, value: Option<u64>) {
    out.integer(value.is_some().into());
    out.integer(value.unwrap_or(0));
}

fn read_optional(from: &mut StateReader<'_>) -> Result<Option<u64>> {
    let is_there = from.index(2)? == 1;
    from.integer().map(|value| is_there.then_some(value))
}

fn text(bytes: &[u8]) -> Result<String> {
    String::from_utf8(bytes.to_vec()).map_err(|cause| {
        Error::new(Code::Bug, "the process of an FMU was not told what it should be").because(cause)
    })
}

/// Types of values by number. Numbers go as 64 bits, to be cut to their own size again.
macro_rules! values {
    ($($number:literal $name:ident $item:ident => $bits:expr, $word:ident => $value:expr;)*) => {
        fn write_values(out: &mut StateWriter, values: &Values) {
            match values {
                $(Values::$name(items) => {
                    out.integer($number);
                    out.integer(items.len() as u64);
                    items.iter().for_each(|$item| out.integer($bits));
                })*
                Values::String(items) => write_blocks(out, 12, items.iter().map(|item| item.as_bytes())),
                Values::Binary(items) => write_blocks(out, 13, items.iter().map(|item| &item[..])),
            }
        }

        fn read_values(from: &mut StateReader<'_>) -> Result<Values> {
            let kind = from.index(14)?;
            let count = from.integer()?;
            Ok(match kind {
                $($number => Values::$name(
                    (0..count).map(|_| from.integer().map(|$word| $value)).collect::<Result<_>>()?,
                ),)*
                12 => Values::String((0..count).map(|_| text(from.block()?)).collect::<Result<_>>()?),
                _ => Values::Binary((0..count).map(|_| Ok(from.block()?.to_vec())).collect::<Result<_>>()?),
            })
        }
    };
}

values! {
    0 Float32 x => u64::from(x.to_bits()), word => f32::from_bits(word as u32);
    1 Float64 x => x.to_bits(), word => f64::from_bits(word);
    2 Int8 x => *x as u64, word => word as i8;
    3 UInt8 x => u64::from(*x), word => word as u8;
    4 Int16 x => *x as u64, word => word as i16;
    5 UInt16 x => u64::from(*x), word => word as u16;
    6 Int32 x => *x as u64, word => word as i32;
    7 UInt32 x => u64::from(*x), word => word as u32;
    8 Int64 x => *x as u64, word => word as i64;
    9 UInt64 x => *x, word => word;
    10 Boolean x => u64::from(*x), word => word > 0;
    11 Enumeration x => *x as u64, word => word as i64;
}

fn write_blocks<'a>(out: &mut StateWriter, kind: u64, items: impl ExactSizeIterator<Item = &'a [u8]>) {
    out.integer(kind);
    out.integer(items.len() as u64);
    items.for_each(|item| out.block(item));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(usage: IsolatedUse) -> IsolatedUse {
        let order = HostedFmu {
            path: "/a/ä.fmu".into(),
            folder: "/b".into(),
            scratch: Some("c d".into()),
            name: "left/axle".into(),
            usage,
        };
        let read = HostedFmu::read(&order.write()).unwrap();
        assert_eq!(read.scratch.as_deref(), Some(Path::new("c d")));
        assert_eq!((read.path, read.folder, read.name), (order.path, order.folder, order.name));
        read.usage
    }

    #[test]
    fn orders_arrive_as_they_were_given() {
        let parameters: Vec<(String, Values)> = [
            Values::Float32(vec![-0.0, f32::MIN_POSITIVE]),
            Values::Float64(vec![0.1, f64::INFINITY]),
            Values::Int8(vec![-128]),
            Values::UInt8(vec![255]),
            Values::Int16(vec![i16::MIN]),
            Values::UInt16(vec![u16::MAX]),
            Values::Int32(vec![i32::MIN, 7]),
            Values::UInt32(vec![u32::MAX]),
            Values::Int64(vec![i64::MIN]),
            Values::UInt64(vec![u64::MAX]),
            Values::Boolean(vec![true, false]),
            Values::String(vec!["ä".into(), String::new()]),
            Values::Binary(vec![vec![0, 255]]),
            Values::Enumeration(vec![-1]),
        ]
        .into_iter()
        .enumerate()
        .map(|(index, values)| (format!("p{index}"), values))
        .collect();
        let options = CoSimulationOptions {
            parameters: parameters.clone(),
            input_order: Some(2),
            tolerance: Some(1e-7),
            logging: Some(false),
            step_timeout: Some(Duration::from_millis(1500)),
            retry_discarded: true,
            routing: InputRouting {
                open: vec!["a".into(), "b[1]".into()],
                tuned: vec!["k".into()],
                maps: vec![("gear".into(), vec![(1.0, -2.0), (3.0, 0.0)]), ("x".into(), Vec::new())],
            },
            variations: SignalVariations { continuous: vec!["v".into()], discrete: vec!["w[2]".into()] },
            sizes: vec![PortSize { port: "v".into(), nominal: Some(10.0), min: None, max: Some(-2.5) }],
        };
        let IsolatedUse::CoSimulation(read) = sent(IsolatedUse::CoSimulation(options.clone())) else {
            panic!("another use")
        };
        assert_eq!(format!("{read:?}"), format!("{options:?}"));
        for solver in ["euler:10us", "rk4:3ns", "dopri5:1e-8", "bdf:1e-6", "adams:3e-9"] {
            let solver = Solver::parse(solver, 0.0).unwrap();
            let options =
                ModelExchangeOptions { parameters: parameters.clone(), solver, ..Default::default() };
            let IsolatedUse::ModelExchange(read) = sent(IsolatedUse::ModelExchange(options.clone())) else {
                panic!("another use")
            };
            assert_eq!(format!("{read:?}"), format!("{options:?}"));
        }
    }

    #[test]
    fn cut_orders_are_refused() {
        let usage = IsolatedUse::CoSimulation(CoSimulationOptions::default());
        let order =
            HostedFmu { path: "a".into(), folder: "b".into(), scratch: None, name: "c".into(), usage };
        let order = order.write();
        assert!((0..order.len()).all(|length| HostedFmu::read(&order[..length]).is_err()));
    }
}
