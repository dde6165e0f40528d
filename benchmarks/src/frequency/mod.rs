pub mod count_min;
