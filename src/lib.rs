pub mod budget;
pub mod error;
pub mod extract;
pub mod model;
pub mod serve;
pub mod words;
