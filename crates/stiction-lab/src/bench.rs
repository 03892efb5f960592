//! `stiction-lab bench`: times of solvers, steps and gap queries. One file per benchmark.

mod chains;
mod jacks;
mod lemke;
mod local;
mod long;
mod peers;
mod profile;
mod rates;
mod ratio;
mod scaling;
mod scenes;
mod search;
mod second_order;
mod solver;
mod timing;

use crate::{BadInput, Outcome};

/// Time solvers, steps and gap queries.
#[derive(clap::Subcommand)]
pub(crate) enum Benchmark {
    Chains(chains::ChainArguments),
    Jacks(jacks::JackArguments),
    Lemke(lemke::LemkeArguments),
    Local(local::LocalArguments),
    Long(long::LongRunArguments),
    Peers(peers::PeerPlotArguments),
    Profile(profile::ProfileArguments),
    Rates(rates::RateArguments),
    Ratio(ratio::RatioArguments),
    Scaling(scaling::ScalingArguments),
    Scenes(scenes::SceneArguments),
    Search(search::SearchArguments),
    SecondOrder(second_order::SecondOrderArguments),
    Solver(solver::HeapArguments),
}

/// Runs the command.
pub(crate) fn run(benchmark: &Benchmark) -> Result<Outcome, BadInput> {
    match benchmark {
        Benchmark::Chains(arguments) => chains::run(arguments),
        Benchmark::Jacks(arguments) => jacks::run(arguments),
        Benchmark::Lemke(arguments) => lemke::run(arguments),
        Benchmark::Local(arguments) => local::run(arguments),
        Benchmark::Long(arguments) => long::run(arguments),
        Benchmark::Peers(arguments) => peers::run(arguments),
        Benchmark::Profile(arguments) => profile::run(arguments),
        Benchmark::Rates(arguments) => rates::run(arguments),
        Benchmark::Ratio(arguments) => ratio::run(arguments),
        Benchmark::Scaling(arguments) => scaling::run(arguments),
        Benchmark::Scenes(arguments) => scenes::run(arguments),
        Benchmark::Search(arguments) => search::run(arguments),
        Benchmark::SecondOrder(arguments) => second_order::run(arguments),
        Benchmark::Solver(arguments) => solver::run(arguments),
    }
}
