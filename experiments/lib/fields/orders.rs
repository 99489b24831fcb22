// Numbers in a BTreeMap and a HashMap, and a vector of structs that is summed.
use std::collections::{BTreeMap, HashMap};
struct Order { id: u64, name: String, lines: Vec<u32>, total: f64 }
#[inline(never)]
fn total(all: &[Order]) -> f64 { all.iter().map(|o| o.total + o.lines.len() as f64).sum() }
fn main() {
    let mut r: u64 = 1; let mut tree = BTreeMap::new(); let mut table = HashMap::new(); let mut all = Vec::new();
    for i in 0..20000u64 { r = r.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        *tree.entry(r >> 48).or_insert(0u64) += i; *table.entry(r >> 50).or_insert(0u64) += 1;
        all.push(Order { id: i, name: format!("order {}", r >> 60), lines: vec![1, 2], total: i as f64 }); }
    let mut s = 0.0; for _ in 0..10 { s += total(&all); }
    println!("{} {} {} {} {}", s, tree.len(), table.len(), all[7].id, all[9].name);
}
