use crivo::distinct::{HyperLogLog, UltraLogLog};
use crivo::keys::KeyScheme;
use std::time::Instant;
fn best(mut f: impl FnMut() -> usize) -> f64 { (0..20000).map(|_| { let t = Instant::now(); std::hint::black_box(f()); t.elapsed().as_nanos() as f64 / 1e3 }).fold(1e9, f64::min) }
fn main() {
    for n in [10u64, 100, 385, 500, 1000, 2000, 4000, 10_000, 100_000, 1_000_000, 100_000_000] {
        let mut h = HyperLogLog::with_scheme(12, KeyScheme::integers()).unwrap();
        let mut u = UltraLogLog::with_scheme(12, KeyScheme::integers()).unwrap();
        for i in 0..n { h.insert(&i).unwrap(); u.insert(&i).unwrap(); }
        let (a, b) = (h.encode(), u.encode());
        assert_eq!(HyperLogLog::decode(&a).unwrap().encode(), a);
        assert_eq!(UltraLogLog::decode(&b).unwrap().encode(), b);
        let s=0; let e = best(|| u.encode().len()); let d = best(|| UltraLogLog::decode(&b).unwrap().precision() as usize); let e2 = best(|| h.encode().len()); let d2 = best(|| HyperLogLog::decode(&a).unwrap().precision() as usize);
        println!("{n:>10} hll {:>6} B mvp {:.3}  ull {:>6} B mvp {:.3} ull enc {e:?} dec {d:?} hll {e2:?} {d2:?} {s}", a.len(), a.len() as f64*8.0*1.036705f64.powi(2)/4096.0, b.len(), b.len() as f64*8.0*0.760862f64.powi(2)/4096.0);
    }
}
