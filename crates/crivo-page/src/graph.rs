//! Draws which things are connected.
//!
//! A [`Graph`] is drawn with springs: lines pull their ends together, and all nodes push each other
//! away (Fruchterman and Reingold, *Graph drawing by force-directed placement*, 1991). It begins on
//! a spiral, so the same graph is always the same picture. A node can be chosen by mouse or
//! keyboard. Then its name is written into the search field of the page's first table. A search
//! marks the nodes whose names contain the text.

use maud::{Markup, html};

use crate::marks::coordinate;
use crate::text;

const WIDTH: f64 = 960.0;
/// The least and the greatest height. Few nodes need little space.
const HEIGHTS: [f64; 2] = [180.0, 600.0];
/// The margin for labels.
const MARGIN: f64 = 48.0;
const ROUNDS: usize = 300;
/// The most nodes that are all labelled. Names of more nodes would cover each other, so only marked
/// nodes show them.
const MOST_LABELS: usize = 60;

/// Nodes and the lines between them.
///
/// ```
/// use crivo_page::Graph;
/// let graph = Graph::new("Tables", "A line is a join.")
///     .node("orders", "lake/orders.csv")
///     .node("customers", "lake/customers.csv")
///     .line(0, 1, 2);
/// assert!(graph.figure().into_string().contains("lake/orders.csv"));
/// ```
#[derive(Debug, Clone)]
pub struct Graph {
    title: String,
    description: String,
    nodes: Vec<(String, String)>,
    lines: Vec<(usize, usize, u32)>,
}

impl Graph {
    /// The style that a page with a graph needs.
    pub const STYLE: &'static str = include_str!("graph.css");
    /// The script that makes nodes react to clicks and keys.
    pub const SCRIPT: &'static str = include_str!("graph.js");

    /// Returns a graph without nodes. The description is one sentence for screen readers.
    pub fn new(title: impl Into<String>, description: impl Into<String>) -> Self {
        Self { title: title.into(), description: description.into(), nodes: Vec::new(), lines: Vec::new() }
    }

    /// Adds a node: the label beside it, and its whole name.
    #[must_use]
    pub fn node(mut self, label: impl Into<String>, name: impl Into<String>) -> Self {
        self.nodes.push((label.into(), name.into()));
        self
    }

    /// Adds a line between two nodes, by their order. It represents `count` things. Lines from or
    /// to a node that does not exist are left out.
    #[must_use]
    pub fn line(mut self, from: usize, to: usize, count: u32) -> Self {
        self.lines.push((from, to, count));
        self
    }

    fn height(&self) -> f64 {
        (40.0 * self.nodes.len() as f64).clamp(HEIGHTS[0], HEIGHTS[1])
    }

    /// Returns the picture under its title.
    pub fn figure(&self) -> Markup {
        let height = self.height();
        let places = self.places();
        let lines: Vec<_> = self.lines.iter().filter(|(a, b, _)| (*a).max(*b) < places.len()).collect();
        let all_labelled = places.len() <= MOST_LABELS;
        html! {
            figure.picture.graph {
                figcaption { (text::visible(&self.title)) }
                svg viewBox={ "0 0 " (WIDTH) " " (height) } role="group" aria-label=(text::visible(&self.description)) {
                    @for &&(from, to, count) in &lines {
                        line.link x1=(coordinate(places[from].0)) y1=(coordinate(places[from].1))
                            x2=(coordinate(places[to].0)) y2=(coordinate(places[to].1))
                            data-from=(from) data-to=(to) stroke-width=(thickness(count)) {}
                    }
                    @for (at, ((label, name), (x, y))) in self.nodes.iter().zip(&places).enumerate() {
                        g.node.labelled[all_labelled] tabindex="0" role="button" data-node=(at)
                            data-name=(text::shorten(name, 400)) aria-label=(text::shorten(name, 80)) aria-pressed="false" {
                            title { (text::shorten(name, 200)) }
                            circle cx=(coordinate(*x)) cy=(coordinate(*y)) r="7" {}
                            text x=(coordinate(*x)) y=(coordinate(y - 12.0)) text-anchor=(anchor(*x)) {
                                (text::shorten_middle(label, 24))
                            }
                        }
                    }
                }
                p.muted { "Choose a node to see its pairs; what is typed into the search field below marks nodes." }
            }
        }
    }

    /// Computes the positions of the nodes.
    fn places(&self) -> Vec<(f64, f64)> {
        let count = self.nodes.len();
        let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
        let mut places: Vec<(f64, f64)> = (0..count)
            .map(|at| {
                let (radius, angle) = (((at as f64 + 0.5) / count as f64).sqrt(), at as f64 * golden);
                (radius * angle.cos(), radius * angle.sin())
            })
            .collect();
        // The distance at which push and pull are equal, in a square with sides of length 2.
        let ideal = 1.6 / (count.max(1) as f64).sqrt();
        for round in 0..ROUNDS {
            let step = 0.2 * (1.0 - round as f64 / ROUNDS as f64);
            let moves = self.forces(&places, ideal);
            for (place, (dx, dy)) in places.iter_mut().zip(moves) {
                let length = dx.hypot(dy).max(1e-9);
                place.0 += dx / length * length.min(step);
                place.1 += dy / length * length.min(step);
            }
        }
        fitted(&places, self.height())
    }

    fn forces(&self, places: &[(f64, f64)], ideal: f64) -> Vec<(f64, f64)> {
        // A weak pull to the middle keeps unconnected parts visible.
        let mut moves: Vec<(f64, f64)> =
            places.iter().map(|(x, y)| (-0.4 * x * ideal, -0.6 * y * ideal)).collect();
        for a in 0..places.len() {
            for b in a + 1..places.len() {
                let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
                let square = (dx * dx + dy * dy).max(1e-6);
                let push = ideal * ideal / square;
                moves[a].0 += dx * push;
                moves[a].1 += dy * push;
                moves[b].0 -= dx * push;
                moves[b].1 -= dy * push;
            }
        }
        for &(a, b, _) in self.lines.iter().filter(|(a, b, _)| (*a).max(*b) < places.len() && a != b) {
            let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
            let pull = dx.hypot(dy) / ideal;
            moves[a].0 -= dx * pull;
            moves[a].1 -= dy * pull;
            moves[b].0 += dx * pull;
            moves[b].1 += dy * pull;
        }
        moves
    }
}

/// Stretches positions to the whole picture.
fn fitted(places: &[(f64, f64)], height: f64) -> Vec<(f64, f64)> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let values = places.iter().map(of).filter(|value| value.is_finite());
        values
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)))
    };
    let ((left, right), (top, bottom)) = (range(|place| place.0), range(|place| place.1));
    let along = |value: f64, low: f64, high: f64, room: f64| {
        let share = if high - low > 1e-6 { (value - low) / (high - low) } else { 0.5 };
        MARGIN + share.clamp(0.0, 1.0) * (room - 2.0 * MARGIN)
    };
    places.iter().map(|(x, y)| (along(*x, left, right, WIDTH), along(*y, top, bottom, height))).collect()
}

/// Returns the anchor of a label. Labels near a side begin or end at their node.
fn anchor(x: f64) -> &'static str {
    if x < WIDTH * 0.15 {
        "start"
    } else if x > WIDTH * 0.85 {
        "end"
    } else {
        "middle"
    }
}

fn thickness(count: u32) -> f64 {
    (1.0 + f64::from(count).log2() / 2.0).min(5.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_node_is_inside_and_neighbours_are_near() {
        let mut graph = Graph::new("g", "d");
        for node in 0..40 {
            graph = graph.node(format!("n{node}"), format!("n{node}"));
        }
        // Two rings.
        for node in 0..20 {
            graph = graph.line(node, (node + 1) % 20, 1).line(20 + node, 20 + (node + 1) % 20, 1);
        }
        let places = graph.places();
        assert!(places.iter().all(|(x, y)| (0.0..=WIDTH).contains(x) && (0.0..=HEIGHTS[1]).contains(y)));
        let distance = |a: usize, b: usize| (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1);
        let along: f64 = (0..20).map(|node| distance(node, (node + 1) % 20)).sum::<f64>() / 20.0;
        let across: f64 = (0..20).map(|node| distance(node, 20 + node)).sum::<f64>() / 20.0;
        assert!(along < across, "{along} beside {across}");
        assert_eq!(places, graph.places(), "the same graph is the same picture");
    }

    #[test]
    fn odd_graphs_are_drawn() {
        for graph in [
            Graph::new("none", ""),
            Graph::new("one", "").node("", "<script>"),
            Graph::new("same", "").node("a", "a").line(0, 0, 1).line(0, 9, 1),
        ] {
            let drawn = graph.figure().into_string();
            assert!(!drawn.contains("NaN") && !drawn.contains("<script>"), "{drawn}");
        }
    }
}
