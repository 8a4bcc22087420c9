#include <fmt/format.h>

#include <algorithm>

#include "graph/stages.h"

namespace minfer {
namespace {

std::string_view backend_name(const Node& node, Backends backends) {
  return node.backend == unassigned ? "-" : backends[size_t(node.backend)]->name();
}

std::string_view fill_colour(std::string_view backend) {
  if (backend.starts_with("metal")) return "lightblue";
  if (backend.starts_with("cuda")) return "lightgreen";
  if (backend == "cpu") return "lightyellow";
  return "white";
}

/// Names come from model files: quotes and the marks of record labels are escaped.
std::string dot_escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view("\"\\{}|<>").find(c) != std::string_view::npos) out += '\\';
    out += (unsigned char)c < 0x20 ? '?' : c;
  }
  return out;
}

}  // namespace

std::string dump_text(const Graph& graph, Backends backends, const std::vector<Placement>* placement) {
  std::string out = fmt::format("graph: {} nodes, {} cells\n", graph.nodes.size(), graph.n_ctx);
  for (const Node& node : graph.nodes) {
    out += fmt::format("{:4} {:<28} {:<16} {:<22} {:<8} ({})", node.id, node.name, op_name(node.op),
                       to_string(node.desc), backend_name(node, backends), fmt::join(node.sources, ", "));
    if (node.dead) out += " dead";
    if (placement && (*placement)[size_t(node.id)].buffer) {
      out += fmt::format(" buffer {}", (*placement)[size_t(node.id)].slot);
      if (const NodeId root = (*placement)[size_t(node.id)].alias_of; root >= 0)
        out += fmt::format(" shared with {}", root);
    }
    out += '\n';
  }
  return out + fmt::format("outputs: {}\n", fmt::join(graph.outputs, ", "));
}

std::string dump_dot(const Graph& graph, Backends backends) {
  std::string out = "digraph minfer {\n  rankdir=LR;\n  node [shape=record, style=filled];\n";
  for (const Node& node : graph.nodes) {
    if (node.dead) continue;
    const bool input = std::holds_alternative<Input>(node.op);
    const bool output = std::find(graph.outputs.begin(), graph.outputs.end(), node.id) != graph.outputs.end();
    const std::string_view colour = fill_colour(backend_name(node, backends));
    if (input || output)
      out += fmt::format("  n{} [shape=doublecircle, fillcolor={}, label=\"{} {}\"];\n", node.id, colour,
                         input ? "INPUT" : "OUTPUT", dot_escaped(node.name));
    else
      out += fmt::format("  n{} [fillcolor={}, label=\"{{{}|{}}}\"];\n", node.id, colour,
                         dot_escaped(node.name), op_name(node.op));
    for (NodeId source : node.sources) out += fmt::format("  n{} -> n{};\n", source, node.id);
  }
  return out + "}\n";
}

}  // namespace minfer
