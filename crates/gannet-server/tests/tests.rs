//! The server from outside: each test starts a real one on loopback and sends it requests.

mod bulk;
mod client;
mod compatibility;
mod connections;
mod documents;
mod guards;
mod hostile;
mod indexes;
mod life;
mod model;
mod queries;
mod searches;
mod status;
