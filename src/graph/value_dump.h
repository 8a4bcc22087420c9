#pragma once
#include <string>

#include "graph/allocator.h"
#include "graph/graph.h"

namespace minfer {

/// MINFER_GRAPH_DUMP=<folder>: where every value of every run goes; empty if unset.
std::string value_dump_folder();

/// Writes the f32 values of a run that is done as `graph<uid>.run<run>.<node>.<name>.f32` (raw, little
/// endian), and a line of statistics for each into `graph<uid>.run<run>.txt`. Values share no memory while
/// this is wanted. Throws Error{io} naming a file that cannot be written.
void dump_values(const std::string& folder, uint64_t uid, int run, const Graph& graph,
                 const Placement& placement, Backends backends);

}  // namespace minfer
