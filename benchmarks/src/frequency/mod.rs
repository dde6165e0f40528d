pub mod count_min;
pub mod heavy_hitters;
