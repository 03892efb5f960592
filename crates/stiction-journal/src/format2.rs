//! Records of format 2, frozen: mirror types of everything that format encodes, field by field.
//!
//! Postcard writes fields and variants by their order alone, so the types here must never change. The conversion into
//! today's types is in `format2/convert.rs`, and only there.

mod convert;

use serde::Deserialize;

/// Contact between two shapes: both shapes and the feature.
#[derive(Clone, Copy, Deserialize)]
struct ContactIdV2 {
    pair: (u32, u32),
    feature: u32,
}

/// Contact, or joint row by its index.
#[derive(Clone, Copy, Deserialize)]
enum ConstraintIdV2 {
    Contact(ContactIdV2),
    Joint(usize),
}

/// Description of a run.
#[derive(Deserialize)]
pub(crate) struct HeaderV2 {
    program: String,
    name: String,
    scene: String,
    scheme: String,
    h: f64,
    accuracy: Option<AccuracyV2>,
    until: f64,
}

#[derive(Deserialize)]
struct AccuracyV2 {
    tolerance: f64,
    method: AccurateMethodV2,
    first_step: f64,
    largest_step: f64,
    event_limit: usize,
    step_limit: usize,
}

#[derive(Deserialize)]
enum AccurateMethodV2 {
    Automatic,
    Trapezoidal,
    DormandPrince,
    DormandPrinceEight,
}

/// State at the start.
#[derive(Deserialize)]
pub(crate) struct StateV2 {
    t: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    memory: MemoryV2,
}

#[derive(Deserialize)]
struct MemoryV2 {
    h: f64,
    cache: Vec<[u32; 6]>,
    contacts: Vec<ContactMemoryV2>,
    joints: Vec<f64>,
    active: Option<Vec<ActiveConstraintV2>>,
    after_impact: bool,
}

#[derive(Deserialize)]
struct ContactMemoryV2 {
    id: ContactIdV2,
    point: [f64; 3],
    normal: f64,
    friction: [f64; 3],
    moment: [f64; 3],
}

#[derive(Deserialize)]
struct ActiveConstraintV2 {
    constraint: ConstraintIdV2,
    hold: HoldV2,
}

/// Friction mode; a sliding contact has the unit direction of its friction.
#[derive(Deserialize)]
enum HoldV2 {
    Stick,
    Slip([f64; 3]),
}

/// Recorded step.
#[derive(Deserialize)]
pub(crate) struct StepV2 {
    t: f64,
    h: f64,
    q: Vec<f64>,
    v: Vec<f64>,
    remembered: RememberedV2,
    contacts: Vec<ContactReportV2>,
    dropped: Vec<DroppedV2>,
    joints: Vec<JointReportV2>,
    certificate: CertificateV2,
    kinetic: f64,
    potential: f64,
    linear_momentum: [f64; 3],
    angular_momentum: [f64; 3],
    infeasibility: f64,
    work: StepWorkV2,
    post: Option<StabilizationReportV2>,
    events: Vec<EventV2>,
    impacts: Vec<ImpactReportV2>,
    second_order: Option<SecondOrderReportV2>,
    evidence: Option<EvidenceV2>,
    followed: Option<AccuracyReportV2>,
}

/// Memory of the state after a step. Impulses that are those of the report are left out.
#[derive(Deserialize)]
struct RememberedV2 {
    h: f64,
    cache: Vec<[u32; 6]>,
    active: Option<Vec<ActiveConstraintV2>>,
    after_impact: bool,
    other: Option<(Vec<ContactMemoryV2>, Vec<f64>)>,
}

#[derive(Deserialize)]
struct ContactReportV2 {
    id: ContactIdV2,
    bodies: [u32; 2],
    point: [f64; 3],
    normal: [f64; 3],
    gap: f64,
    mu: f64,
    normal_impulse: f64,
    friction_impulse: [f64; 3],
    slip: [f64; 3],
    mode: ModeV2,
    moment: Option<MomentReportV2>,
}

#[derive(Deserialize)]
enum ModeV2 {
    Open,
    Stick,
    Slip,
}

#[derive(Deserialize)]
struct MomentReportV2 {
    impulse: [f64; 3],
    turn: [f64; 3],
    rolling: Option<ModeV2>,
}

#[derive(Deserialize)]
struct DroppedV2 {
    contact: ContactIdV2,
    combination: Vec<(usize, f64)>,
}

#[derive(Deserialize)]
struct JointReportV2 {
    joint: u32,
    impulse: f64,
}

/// Residuals of a step, without those of each contact.
#[derive(Deserialize)]
struct CertificateV2 {
    speed: f64,
    momentum: f64,
    joints: f64,
    natural_map: f64,
    cone: f64,
    complementarity: f64,
    dissipation: f64,
}

#[derive(Deserialize)]
struct StepWorkV2 {
    problems: usize,
    pivots: usize,
    factorizations: usize,
    loose: usize,
    size: usize,
    additions: usize,
    rounds: usize,
    converged: bool,
    redundant_joints: Vec<usize>,
    proven: usize,
    limited: usize,
}

/// Post-stabilization, without its proof of infeasibility.
#[derive(Deserialize)]
struct StabilizationReportV2 {
    passes: usize,
    before: f64,
    after: f64,
}

#[derive(Deserialize)]
struct EventV2 {
    t: f64,
    kind: EventKindV2,
    constraint: ConstraintIdV2,
}

#[derive(Deserialize)]
enum EventKindV2 {
    Impact,
    TakeOff,
    Slip,
    Stick,
    Reversal,
}

#[derive(Deserialize)]
struct ImpactReportV2 {
    t: f64,
    approaches: Vec<(ConstraintIdV2, f64)>,
    before: f64,
    compressed: f64,
    after: f64,
    factor: f64,
}

#[derive(Deserialize)]
struct SecondOrderReportV2 {
    solves: usize,
    slack: f64,
    definite: bool,
    damped: bool,
    forced: usize,
    cut: bool,
    coarse: f64,
    refused: f64,
    projected: f64,
}

/// Run to an accuracy within an interval, without order, events and penetration.
#[derive(Deserialize)]
struct AccuracyReportV2 {
    error: f64,
    steps: usize,
    rejections: usize,
    solves: usize,
    certificate: f64,
}

#[derive(Deserialize)]
struct EvidenceV2 {
    about: Vec<f64>,
    passes: Vec<StabilizationPassV2>,
    parts: Vec<PartV2>,
}

#[derive(Deserialize)]
struct StabilizationPassV2 {
    contacts: Vec<ContactIdV2>,
    impulses: Vec<f64>,
    infeasible: Option<Vec<f64>>,
}

/// Substep of a second-order step, or a change between two substeps.
#[derive(Deserialize)]
enum PartV2 {
    Between {
        size: f64,
        implicit: bool,
        located: bool,
        definite: bool,
        active: Vec<ActiveConstraintV2>,
        fresh: Vec<ActiveConstraintV2>,
        heading: Vec<f64>,
        carried: Vec<f64>,
        slips: Vec<(usize, [f64; 2])>,
        impulses: Vec<f64>,
        v: Vec<f64>,
    },
    Projection {
        active: Vec<ActiveConstraintV2>,
        displacements: Vec<Vec<f64>>,
        v: Vec<f64>,
    },
    Impact {
        struck: Vec<ConstraintIdV2>,
        held: Vec<ConstraintIdV2>,
        compression: Vec<f64>,
        compressed: Vec<f64>,
        factor: f64,
        decompression: Vec<f64>,
        v: Vec<f64>,
    },
    Coarse {
        size: f64,
        soft: bool,
        q: Vec<f64>,
        v: Vec<f64>,
    },
    Interpolated {
        #[serde(deserialize_with = "stiction::deserialize_nested")]
        whole: Box<PartV2>,
        at: f64,
    },
    Past {
        size: f64,
    },
    Combined {
        size: f64,
        by: CombinationV2,
        active: Vec<ActiveConstraintV2>,
        #[serde(deserialize_with = "stiction::deserialize_nested")]
        parts: Vec<PartV2>,
        error: f64,
    },
    Instant {
        forces: Vec<f64>,
        a: Vec<f64>,
    },
}

#[derive(Deserialize)]
enum CombinationV2 {
    Doubled,
    DormandPrince,
    DormandPrinceEight,
}
