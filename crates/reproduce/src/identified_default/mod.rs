mod cases;
mod noisy;
mod stiffening;
#[cfg(test)]
mod tests { 
    #[test]
    fn trial() {
        let m = ["zoh","identified","identified:form=ramp","identified:start=plain","identified:start=plain,form=ramp"];
        let which = std::env::var("CASES").unwrap_or("all".into());
        let filter = std::env::var("FILTER").unwrap_or_default();
        let mut rows = vec![];
        let t = super::cases::test(); let nt = t.len();
        for (k, r) in t.into_iter().chain(super::cases::choosing()).enumerate() {
            if (which=="test" && k>=nt) || (which=="choosing" && k<nt) { continue; }
            if !r.name.contains(&filter) { continue; }
            rows.push(r);
        }
        let mut logs=[0.0f64;5];
        for r in &rows {
            let mut e = vec![1.0; 5];
            let shift: Vec<f64> = std::env::var("SHIFT").ok().map(|v| v.split(',').map(|x| x.parse().unwrap()).collect()).unwrap_or(vec![1.0]);
            let mut all = vec![];
            for s in &shift { let mut q = r.clone(); q.step *= s; let one = q.errors(&m).unwrap(); for k in 0..5 { e[k] *= one[k].powf(1.0/shift.len() as f64); } all.push(format!("{:.4}/{:.4}", one[1], one[2])); }
            if shift.len() > 1 { println!("{}", all.join(" ")); }
            println!("{:48} zoh {:8.4} H {:8.5} ({:7.4}) R {:8.5} ({:7.4}) HZ {:8.4} RZ {:8.4} {}", r.name, e[0], e[1], r.prototype.0, e[2], r.prototype.1, e[3], e[4], if e[1].max(e[2]) > 0.8*e[0] {"WORSE"} else {""});
            for k in 0..5 { logs[k]+=e[k].ln(); }
        }
        println!("geomean {:?}", logs.map(|l| (l/rows.len() as f64).exp()));
    }
}
