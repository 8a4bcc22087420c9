#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "graph/stages.h"

namespace minfer {
namespace {

std::string_view backend_name(const Node& node, Backends backends) {
  return node.backend == unassigned ? std::string_view("-") : backends[size_t(node.backend)]->name();
}

std::string_view colour(const Node& node, Backends backends) {
  if (node.backend == unassigned) return "white";
  const std::string_view name = backends[size_t(node.backend)]->name();
  if (name.starts_with("metal")) return "lightblue";
  if (name.starts_with("cuda")) return "lightgreen";
  return "lightyellow";
}

/// Weight names come from a file: whatever has a meaning in a record label is escaped, control bytes become
/// question marks.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (std::string_view("\"\\{}|<> ").find(c) != std::string_view::npos) out += '\\';
    out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
  }
  return out;
}

void write_file(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    throw Error(ErrorCode::io, fmt::format("writing {}: the file cannot be written", path.string()),
                "choose another dump folder");
  }
}

}  // namespace

std::string dump_text(const Graph& graph, Backends backends, std::span<const std::string> notes) {
  std::string text;
  for (const Node& node : graph.nodes) {
    std::string sources;
    for (NodeId source : node.sources) sources += fmt::format("{}{}", sources.empty() ? "" : ", ", source);
    text += fmt::format("{:>4} {:<24} {} ({}) -> {} on {}{}", node.id, node.name, op_name(node.op), sources,
                        to_string(node.desc), backend_name(node, backends), node.dead ? " dead" : "");
    if (!notes.empty() && !notes[size_t(node.id)].empty()) text += "  " + notes[size_t(node.id)];
    text += '\n';
  }
  for (NodeId id : graph.outputs) text += fmt::format("output {}\n", id);
  return text;
}

std::string dump_dot(const Graph& graph, Backends backends) {
  std::string text = "digraph minfer {\n  rankdir=LR;\n  node [shape=record, style=filled];\n";
  for (const Node& node : graph.nodes) {
    if (node.dead) continue;
    const bool is_input = std::holds_alternative<Input>(node.op);
    const std::string_view op = op_name(node.op);
    if (is_input) {
      text += fmt::format("  n{} [shape=doublecircle, label=\"INPUT {}\", fillcolor={}];\n", node.id,
                          escaped(node.name), colour(node, backends));
    } else {
      text += fmt::format("  n{} [label=\"{{{}|{}|{}}}\", fillcolor={}];\n", node.id, escaped(node.name), op,
                          escaped(to_string(node.desc)), colour(node, backends));
    }
    for (NodeId source : node.sources) text += fmt::format("  n{} -> n{};\n", source, node.id);
  }
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const NodeId id = graph.outputs[i];
    text +=
        fmt::format("  out{} [shape=doublecircle, label=\"OUTPUT {}\", fillcolor=white];\n  n{} -> out{};\n",
                    i, escaped(graph.nodes[size_t(id)].name), id, i);
  }
  return text + "}\n";
}

void write_dump(const std::string& dir, std::string_view name, const Graph& graph, Backends backends,
                std::span<const std::string> notes) {
  const std::filesystem::path folder(dir);
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed) {
    throw Error(ErrorCode::io, fmt::format("creating dump folder {}: {}", dir, failed.message()),
                "choose a folder that can be written");
  }
  write_file(folder / fmt::format("{}.txt", name), dump_text(graph, backends, notes));
  write_file(folder / fmt::format("{}.dot", name), dump_dot(graph, backends));
}

}  // namespace minfer
