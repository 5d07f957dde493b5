//! The `paynter` command: reads the call, hands it to one file of `commands`, sets the exit status.
//!
//! Exit status: 0 success, 1 the model has errors, 2 the command line is wrong, 3 the simulation failed.

mod commands;
mod console;

use clap::{Args, CommandFactory, Parser, Subcommand};
use std::path::PathBuf;
use std::process::ExitCode;

/// Bond graphs: causality, equations, simulation, and every joule accounted for.
#[derive(Parser)]
#[command(name = "paynter", version, about, arg_required_else_help = true)]
struct Call {
    #[command(subcommand)]
    command: Command,
}

/// Which model, with what changed.
#[derive(Args, Clone, Debug)]
struct ModelArgs {
    /// The model file (.bond)
    file: PathBuf,
    /// The model to use when the file has several and no experiment says which
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// The experiment to run
    #[arg(long, short, value_name = "NAME")]
    experiment: Option<String>,
    /// Change a parameter or input, such as `--set R1="50 [ohm]"`
    #[arg(long, value_name = "PATH=VALUE")]
    set: Vec<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate an experiment: table, energy audit, plots
    Run(commands::run::RunArgs),
    /// Run an experiment over many parameter values
    Sweep(commands::sweep::SweepArgs),
    /// Find the values that minimize or maximize a measure
    Optimize(commands::optimize::OptimizeArgs),
    /// Find parameters from measured data
    Fit(commands::fit::FitArgs),
    /// Check every model and experiment of a file for errors
    Check(commands::check::CheckArgs),
    /// Show strokes, states, loops and why
    Causality(commands::causality::CausalityArgs),
    /// Print the equations in the model's own names
    Equations(commands::equations::EquationsArgs),
    /// Write the bond graph of a Lagrangian, with its proof
    Lagrangian(commands::lagrangian::LagrangianArgs),
    /// Write the model with fewer junctions and elements, with its proof
    Simplify(commands::simplify::SimplifyArgs),
    /// Take out coordinates whose momentum is conserved, with its proof
    Reduce(commands::reduce::ReduceArgs),
    /// Write vector bonds as scalar ones, with its proof
    Scalarize(commands::scalarize::ScalarizeArgs),
    /// Linearize: A, B, C, D at the start or at a time of a run
    Linearize(commands::linearize::LinearizeArgs),
    /// How the poles of a loop move with its gain: root locus
    Locus(commands::locus::LocusArgs),
    /// Transfer functions as numerator and denominator, with gain, zeros and poles
    Tf(commands::locus::TfArgs),
    /// Amplitude spectra of columns of a result file
    Spectrum(commands::spectrum::SpectrumArgs),
    /// Which parameters matter over their whole ranges: elementary effects or variance shares
    Screen(commands::screen::ScreenArgs),
    /// How recorded quantities follow parameters along the run, exactly, with a ranking
    Sensitivity(commands::sensitivity::SensitivityArgs),
    /// Poles, damping, modes and zeros of the linear model
    Poles(commands::poles::PolesArgs),
    /// Frequency responses of the linear model
    Bode(commands::bode::BodeArgs),
    /// Gain, phase and delay margins of a loop
    Margins(commands::margins::MarginsArgs),
    /// Step responses of the linear model
    Step(commands::step::StepArgs),
    /// Structural analysis: controllability, observability, zeros, activity, inversion, faults
    Structure(commands::structure::StructureArgs),
    /// Optimal feedback gains (LQR) of the linear model
    Lqr(commands::control::LqrArgs),
    /// Optimal feedback gains with integral action (LQI)
    Lqi(commands::control::LqrArgs),
    /// Gains of a Kalman filter (LQE) for noise at inputs and outputs
    Lqe(commands::control::LqeArgs),
    /// Deviations of states and outputs under noise, from Lyapunov's equation
    Lyap(commands::control::LyapArgs),
    /// Feedback gains that give chosen poles
    Place(commands::control::PlaceArgs),
    /// The linear model in discrete time
    C2d(commands::control::C2dArgs),
    /// The continuous model of a sampled loop
    D2c(commands::control::D2cArgs),
    /// Run an experiment with every method of handling constraints, side by side
    CompareMethods(commands::compare_methods::CompareMethodsArgs),
    /// Draw the bond graph
    Diagram(commands::diagram::DiagramArgs),
    /// Export the model to other simulators: C code, FMU
    Export(commands::export::ExportArgs),
    /// Import a model of another program: URDF
    Import(commands::import::ImportArgs),
    /// Plot a result file
    Plot(commands::plot::PlotArgs),
    /// Format a model file
    Fmt(commands::fmt::FmtArgs),
    /// Start a new model file
    New(commands::new::NewArgs),
    /// List the gallery, or run all of it
    Gallery(commands::gallery::GalleryArgs),
    /// Open Studio: draw, run and understand models in the browser
    Studio(commands::studio::StudioArgs),
    /// Describe a part of the library: ports, parameters, an example
    Doc(commands::doc::DocArgs),
    /// Check a file on every save, and run it
    Watch(commands::watch::WatchArgs),
    /// Language server for editors, over standard input and output (LSP)
    Lsp(commands::lsp::LspArgs),
    /// Print the script that completes commands in a shell
    Completions(commands::completions::CompletionsArgs),
    /// Print the manual page
    Man,
    /// Explain a message code
    Explain(commands::explain::ExplainArgs),
}

fn main() -> ExitCode {
    let call = Call::parse();
    let status = match call.command {
        Command::Run(args) => commands::run::run(&args),
        Command::Sweep(args) => commands::sweep::sweep(&args),
        Command::Optimize(args) => commands::optimize::optimize(&args),
        Command::Fit(args) => commands::fit::fit(&args),
        Command::CompareMethods(args) => commands::compare_methods::compare_methods(&args),
        Command::Check(args) => commands::check::check(&args),
        Command::Causality(args) => commands::causality::causality(&args),
        Command::Equations(args) => commands::equations::equations(&args),
        Command::Lagrangian(args) => commands::lagrangian::lagrangian(&args),
        Command::Simplify(args) => commands::simplify::simplify(&args),
        Command::Reduce(args) => commands::reduce::reduce(&args),
        Command::Scalarize(args) => commands::scalarize::scalarize(&args),
        Command::Linearize(args) => commands::linearize::linearize(&args),
        Command::Locus(args) => commands::locus::locus(&args),
        Command::Tf(args) => commands::locus::tf(&args),
        Command::Spectrum(args) => commands::spectrum::spectrum(&args),
        Command::Screen(args) => commands::screen::screen(&args),
        Command::Sensitivity(args) => commands::sensitivity::sensitivity(&args),
        Command::Poles(args) => commands::poles::poles(&args),
        Command::Bode(args) => commands::bode::bode(&args),
        Command::Margins(args) => commands::margins::margins(&args),
        Command::Step(args) => commands::step::step(&args),
        Command::Structure(args) => commands::structure::structure(&args),
        Command::Lqr(args) => commands::control::lqr(&args),
        Command::Lqi(args) => commands::control::lqi(&args),
        Command::Lqe(args) => commands::control::lqe(&args),
        Command::Lyap(args) => commands::control::lyap(&args),
        Command::Place(args) => commands::control::place(&args),
        Command::C2d(args) => commands::control::c2d(&args),
        Command::D2c(args) => commands::control::d2c(&args),
        Command::Diagram(args) => commands::diagram::diagram(&args),
        Command::Export(args) => commands::export::export(&args),
        Command::Import(args) => commands::import::import(&args),
        Command::Plot(args) => commands::plot::plot(&args),
        Command::Fmt(args) => commands::fmt::fmt(&args),
        Command::New(args) => commands::new::new(&args),
        Command::Gallery(args) => commands::gallery::gallery(&args),
        Command::Studio(args) => commands::studio::studio(&args),
        Command::Doc(args) => commands::doc::doc(&args),
        Command::Watch(args) => commands::watch::watch(&args),
        Command::Lsp(args) => commands::lsp::lsp(&args),
        Command::Completions(args) => commands::completions::completions(&args, Call::command()),
        Command::Man => commands::completions::man(Call::command()),
        Command::Explain(args) => commands::explain::explain(&args),
    };
    ExitCode::from(status)
}
