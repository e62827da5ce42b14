//! Every registered study is well described, computes, and measures every claim.

use std::collections::BTreeSet;

use costep_reproduce::{Claimed, Finding, Measured, STUDIES, Verdict, Work, find};

const TAGS: [&str; 5] = ["[G18]", "[T]", "[H18]", "[V14]", "[A16]"];

#[test]
fn every_study_says_where_its_claims_come_from() {
    let ids: BTreeSet<_> = STUDIES.iter().map(|study| study.id).collect();
    assert_eq!(ids.len(), STUDIES.len());
    for study in STUDIES {
        assert!(study.id.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c)));
        assert!(
            !study.claims.is_empty() && !study.title.is_empty() && study.setup.len() > 20,
            "{}",
            study.id
        );
        for place in study.claims.iter().map(|claim| claim.place).chain([study.source]) {
            let ours = place.starts_with("costep");
            assert!(
                ours || TAGS.iter().any(|tag| place.starts_with(tag))
                    && (place.contains("Fig") || place.contains("Table")),
                "{}: {place}",
                study.id
            );
        }
    }
    let error = find("genser2018-fig66").err().expect("no such study").to_string();
    assert!(error.contains("did you mean `genser2018-fig6`?"), "{error}");
}

#[test]
fn every_study_measures_every_claim() {
    for study in STUDIES {
        let work = Work { threads: 2, quick: true, progress: &|_, _| Ok(()) };
        let computed = (study.compute)(&work).unwrap_or_else(|error| panic!("{}: {error}", study.id));
        assert_eq!(computed.measured.len(), study.claims.len(), "{}", study.id);
        for (claim, measured) in study.claims.iter().zip(&computed.measured) {
            let is_number = matches!(claim.claimed, Claimed::Number { .. });
            assert_eq!(claim.kind.is_number(), is_number, "{}: {}", study.id, claim.text);
            assert!(claim.kind.takes(measured), "{}: {}", study.id, claim.text);
            let finding = Finding::new(claim, measured);
            println!("{}: {}: {} ({})", study.id, claim.text, finding.reproduced, finding.verdict.text());
            assert!(!finding.reproduced.is_empty());
        }
        computed.remarks.iter().for_each(|remark| println!("{remark}"));
        assert!(computed.data.rows() > 5, "{}", study.id);
        assert!(computed.figure.to_svg().ends_with("</svg>\n"));
    }
}

/// The values of the claims of a study, computed with a number of threads.
fn values(id: &str, threads: usize) -> Vec<(String, Verdict)> {
    let study = find(id).unwrap();
    let computed = (study.compute)(&Work { threads, quick: true, progress: &|_, _| Ok(()) }).unwrap();
    let findings =
        study.claims.iter().zip(&computed.measured).map(|(claim, found)| Finding::new(claim, found));
    findings.map(|finding| (finding.reproduced, finding.verdict)).collect()
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    assert_eq!(values("genser2020-fig3.62", 1), values("genser2020-fig3.62", 3));
}

/// Values of an independent prototype on the half-decade grid: areas 7.1, 62.3 and 28.6.
#[test]
fn areas_agree_with_an_independent_computation() {
    let study = find("genser2020-fig3.52").unwrap();
    let computed = (study.compute)(&Work { threads: 2, quick: true, progress: &|_, _| Ok(()) }).unwrap();
    let value = |k: usize| match computed.measured[k] {
        Measured::Number(value) => value,
        _ => panic!("claim {k} is not a number"),
    };
    for (k, wanted) in [(0, 7.1), (3, 62.3), (2, 28.6), (7, 3.0), (8, 4.0)] {
        assert!(
            (value(k) / wanted - 1.0).abs() < 0.03,
            "{}: {} instead of {wanted}",
            study.claims[k].text,
            value(k)
        );
    }
}

/// Studies whose full results cost next to nothing: what the document says of them is what comes out.
#[test]
fn results_in_the_document_are_what_comes_out() {
    let document = include_str!("../../../docs/reproduce.md");
    for id in [
        "genser2018-fig8",
        "genser2018-fig9",
        "genser2020-fig3.62",
        "genser2020-fig3.63",
        "genser2020-fig3.64",
        "genser2020-fig3.65",
        "genser2020-fig3.66",
        "genser2020-eq4.5",
    ] {
        let section =
            document.split(&format!("### `{id}`")).nth(1).unwrap_or_else(|| panic!("no results of {id}"));
        let section = section.split("###").next().unwrap();
        let study = find(id).unwrap();
        let computed = (study.compute)(&Work { threads: 2, quick: false, progress: &|_, _| Ok(()) }).unwrap();
        for (claim, measured) in study.claims.iter().zip(&computed.measured) {
            let finding = Finding::new(claim, measured);
            let cells = format!("| {} | {} |", finding.reproduced, finding.verdict.text());
            assert!(section.contains(&cells), "{id}: {}: {cells}", claim.text);
        }
    }
}
