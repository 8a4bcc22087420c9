#pragma once
#include <string>
#include <vector>

#include "graph/stages.h"

/// A capture is a copy of every value of a run, each taken right after the node that makes it: buffers are
/// shared exactly as they are without, and what is written out is what the next node read.
namespace minfer {

/// MINFER_GRAPH_DUMP=<folder>: where captures go; empty if unset, and then nothing is copied.
std::string capture_folder();

/// Whether a node's output is captured: f32 values that it computes. KV regions are their layer's own.
bool is_captured(const Node& node);

/// Writes the captures of a run that is done, by node, as `graph<uid>.run<run>.<node>.<name>.f32` (raw,
/// little endian), and a line of statistics for each into `graph<uid>.run<run>.txt`. Throws Error{io} naming
/// a file that cannot be written.
void write_captures(const std::string& folder, uint64_t uid, int run, const Graph& graph,
                    const std::vector<Buffer*>& captures, Backends backends);

}  // namespace minfer
