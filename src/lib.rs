pub mod budget;
pub mod config;
pub mod error;
pub mod extract;
pub mod model;
pub mod scan;
pub mod words;
