//! Bodies that a guide presses on others: their contact forces are not unique, and neither need their motion be. Runs to an
//! accuracy agree with each other and with converged steps of second order.

use crate::{difference, simulation};
use stiction::Accuracy;

/// Coordinates at the end of a run to an accuracy.
fn run(text: &str, until: f64, accuracy: f64) -> Vec<f64> {
    let mut simulation = simulation(text);
    let done = simulation.run_to_accuracy(until, &Accuracy::of(accuracy), &[], |_, _| ());
    done.unwrap_or_else(|e| panic!("{e}"));
    simulation.state().q.clone()
}

/// Coordinates at the end of steps of second order.
fn steps(text: &str, until: f64, h: f64) -> Vec<f64> {
    let mut simulation = simulation(text);
    simulation.record(until, h, |_, _, _| ()).unwrap_or_else(|e| panic!("{e}"));
    simulation.state().q.clone()
}

/// Head of a scene without restitution.
fn head(dimension: usize, gravity: &str, friction: f64) -> String {
    format!(
        "format = 1\ndimension = {dimension}\nrun = {{ duration = 1.0 }}\n[world]\ngravity = {gravity}\n\
         [materials.default]\nfriction = {friction}\n"
    )
}

/// Runs to 1e-4 and 1e-6 against 1e-8, within ten times their accuracy, and all against steps of second order.
fn assert_agreement(text: &str, until: f64, h: f64) {
    let fine = run(text, until, 1e-8);
    for accuracy in [1e-4, 1e-6] {
        let error = difference(&run(text, until, accuracy), &fine);
        assert!(error <= 10.0 * accuracy, "{error:e} at {accuracy:e}");
    }
    let [coarse, middle] = [h, 0.5 * h].map(|h| steps(text, until, h));
    let (error, change) = (difference(&middle, &fine), difference(&coarse, &middle));
    assert!(error <= 2.0 * change + 1e-6, "{error:e} from steps whose last halving changed {change:e}");
}

/// A corner of the lower body passes a corner of the guided upper one: the contact of one is taken over by that of the
/// other, though its gap never closes and it carries nothing where modes are sought.
#[test]
fn the_next_corner_under_a_guided_body_is_found() {
    let text = head(2, "[0.0, -9.81]", 0.428)
        + "[[bodies]]\nname = \"ground\"\nmotion = \"kinematic\"\n\
           path = { position = [\"0.05*sin(10.543*t)\", 0.0] }\nshapes = [{ kind = \"half_plane\" }]\n\
           [[bodies]]\nname = \"b0\"\ndensity = 131.417\nposition = [0.107, 0.235]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.103, 0.235] }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 462.138\nposition = [0.127, 0.697]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.122, 0.227] }]\n\
           [[joints]]\nname = \"j\"\nbodies = [\"world\", \"b1\"]\nat = [0.373, 0.841]\nkind = \"prismatic\"\n\
           axis = [1.0, 0.0]\nfriction = 2.408\n\
           [[forces]]\nbody = \"b1\"\nforce = [\"57.525*sin(7.304*t)\", 0.0]\n";
    assert_agreement(&text, 0.2, 0.001);
}

/// The round end of a guided capsule passes the corner of a box that slides under it.
#[test]
fn a_redundant_contact_without_force_stays() {
    let text = head(2, "[-1.91295, -9.81]", 0.374)
        + "[[bodies]]\nname = \"ground\"\nmotion = \"fixed\"\n\
           shapes = [{ kind = \"half_plane\", surface_velocity = -1.343 }]\n\
           [[bodies]]\nname = \"b0\"\ndensity = 768.6\nposition = [0.127, 0.272]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.294, 0.272] }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 944.234\nposition = [0.147, 0.799]\n\
           shapes = [{ kind = \"capsule\", half_length = 0.196, radius = 0.255 }]\n\
           [[joints]]\nname = \"j\"\nbodies = [\"world\", \"b1\"]\nat = [-0.047, 0.897]\nkind = \"prismatic\"\n\
           axis = [1.0, 0.0]\n";
    assert_agreement(&text, 0.4, 0.002);
}

/// A guided body on an incline below the angle of friction may slip by little force or stick by more: it rests.
#[test]
fn a_guided_body_that_can_rest_does() {
    let text = head(3, "[-2.16801, 0.0, -9.81]", 0.25)
        + "[[bodies]]\nname = \"ground\"\nmotion = \"fixed\"\nshapes = [{ kind = \"half_space\" }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 870.461\nrotation_vector = [0.0, 0.0, -0.548]\n\
           position = [1.665, 0.0, 0.22]\nshapes = [{ kind = \"polyhedron\", vertices = [[-0.156, -0.213, -0.22], \
           [0.156, -0.213, -0.22], [0.0, 0.213, -0.22], [0.0, 0.0, 0.22]] }]\n\
           [[joints]]\nname = \"j\"\nbodies = [\"world\", \"b1\"]\nat = [1.579, 0.0, 0.321]\nkind = \"prismatic\"\n\
           axis = [1.0, 0.0, 0.0]\n";
    let start = simulation(&text).state().q.clone();
    for accuracy in [1e-4, 1e-8] {
        assert!(difference(&run(&text, 0.3, accuracy), &start) < 1e-12, "accuracy {accuracy}");
    }
    assert!(difference(&steps(&text, 0.3, 0.01), &start) < 1e-12, "steps of second order");
}

/// A body whose contact loses its features in the middle of an event: steps of second order go on by one of first order.
#[test]
fn steps_go_on_where_the_features_of_a_contact_end() {
    let text = head(2, "[-3.31578, -9.81]", 0.308)
        + "[[bodies]]\nname = \"ground\"\nmotion = \"fixed\"\n\
           shapes = [{ kind = \"half_plane\", surface_velocity = -1.121 }]\n\
           [[bodies]]\nname = \"b0\"\ndensity = 980.816\nposition = [0.039, 0.161]\nvelocity = [-0.964, 0.0]\n\
           shapes = [{ kind = \"polygon\", vertices = [[-0.37, -0.161], [0.37, -0.161], [0.0, 0.161]] }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 871.643\nangle = 2.874\nposition = [1.467, 1.044]\n\
           velocity = [-0.952, 0.0]\nshapes = [{ kind = \"rectangle\", half_extents = [0.21, 0.226] }]\n";
    let fine = run(&text, 0.9, 1e-6);
    let error = difference(&steps(&text, 0.9, 0.0025), &fine);
    assert!(error < 0.01, "{error:e}");
}
