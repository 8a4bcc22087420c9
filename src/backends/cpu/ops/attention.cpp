#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "backends/cpu/ops/kv_tile.h"

/// Attention over KV regions. A query's softmax runs over its window's rows in tiles of attn_tile_rows,
/// starts afresh every attn_chunk_rows and merges the chunks in order. Tiles and chunks count from the
/// window's first row, so a query's bits depend on what it sees alone: not on the tokens beside it, nor on
/// threads.
namespace minfer::cpu {
namespace {

/// Floats of the queries that share a tile, and of their o. More share the work of widening it, but they come
/// and go through L1 while the tile stays there, and must find room in the second-level cache.
constexpr int64_t block_floats = 32768;
constexpr int64_t most_block_tokens = 128;
constexpr int64_t laid_together = 16;  ///< queries that attend_wide takes in its lanes
constexpr int64_t chunked_tokens = 4;  ///< up to here chunks are units of their own, to feed every core

int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

/// Online softmax states of several queries.
struct States {
  float* m;
  float* s;
  float* o;
};

struct Call {
  const KernelTable* kernels;
  KvReader kv;
  const float* q;
  float* y;
  int64_t q_stride, y_stride;  ///< between tokens
  int64_t n_heads, n_kv_heads, head_dim, tokens;
  int64_t block_tokens;
  float scale;
  const AttentionPlan* plan;
  int64_t group() const { return n_heads / n_kv_heads; }
  int64_t most_queries() const { return block_tokens * group(); }
};

/// A worker's memory for one unit.
struct Desk {
  float* q;
  States running, fresh;
  int32_t* visible;
  float* tile;

  static size_t bytes(const Call& call) {
    const size_t queries = size_t(room(call));
    const size_t floats = queries * (size_t(laid_stride(call)) + 2 * size_t(call.head_dim) + 5);
    return sizeof(float) * (floats + call.kv.tile_floats());
  }
  /// Floats of a query that is laid out.
  static int64_t laid_stride(const Call& call) { return round_up(call.head_dim, laid_together); }
  Desk(const Call& call, std::byte* memory) {
    auto* at = reinterpret_cast<float*>(memory);
    const auto take = [&at](int64_t n) { return std::exchange(at, at + n); };
    const int64_t queries = room(call), wide = queries * call.head_dim;
    // What vectors read first, so that it stays on cache lines.
    tile = take(int64_t(call.kv.tile_floats()));
    q = take(queries * laid_stride(call));
    running.o = take(wide);
    fresh.o = take(wide);
    running.m = take(queries);
    running.s = take(queries);
    fresh.m = take(queries);
    fresh.s = take(queries);
    visible = reinterpret_cast<int32_t*>(take(queries));
  }

 private:
  static int64_t room(const Call& call) { return round_up(call.most_queries(), laid_together); }
};

/// The queries of one KV head's group for a block's tokens: query t * group + h.
struct Queries {
  TokenBlock block;
  int64_t kv_head, group;
  Queries(const Call& call, const TokenBlock& tokens, int64_t head)
      : block(tokens), kv_head(head), group(call.group()) {}
  int64_t count() const { return block.tokens * group; }
  int64_t token(int64_t query) const { return block.first + query / group; }
  bool wide() const { return count() > attn_narrow_queries; }
  int64_t head(int64_t query) const { return kv_head * group + query % group; }
};

/// The block's queries as the kernel takes them. `memory` is for their rows.
void load_queries(const Call& call, const Queries& queries, float* q, float* memory) {
  const int64_t floats = queries.group * call.head_dim;
  float* rows = queries.wide() ? memory : q;
  for (int64_t t = 0; t < queries.block.tokens; ++t) {
    std::memcpy(rows + t * floats,
                call.q + (queries.block.first + t) * call.q_stride + queries.kv_head * floats,
                size_t(floats) * sizeof(float));
  }
  if (queries.wide()) call.kernels->lay_queries(q, rows, call.head_dim, queries.count(), call.head_dim);
}

/// Writes what each query sees of rows [row, row + rows). Returns the first query that sees any.
int64_t see_rows(const Call& call, const Queries& queries, int64_t row, int64_t rows, int32_t* visible) {
  int64_t first = queries.count();
  for (int64_t t = queries.block.tokens - 1; t >= 0; --t) {
    const int64_t all = call.plan->visible[size_t(queries.block.first + t)].rows;
    const int64_t seen = std::clamp<int64_t>(all - row, 0, rows);
    std::fill_n(visible + t * queries.group, queries.group, int32_t(seen));
    if (seen > 0) first = t * queries.group;
  }
  return first;
}

/// Runs chunk `chunk` of the block's windows into fresh states.
void attend_chunk(const Call& call, const Queries& queries, int64_t chunk, const Desk& desk,
                  const States& states) {
  const int64_t n = queries.count();
  std::fill_n(states.m, n, -std::numeric_limits<float>::infinity());
  std::fill_n(states.s, n, 0.0f);
  std::fill_n(states.o, n * call.head_dim, 0.0f);
  const VisibleRows& widest = call.plan->visible[size_t(queries.block.widest)];
  const int64_t end = std::min(widest.rows, (chunk + 1) * attn_chunk_rows);
  for (int64_t row = chunk * attn_chunk_rows; row < end; row += attn_tile_rows) {
    const int64_t rows = std::min(attn_tile_rows, end - row);
    const KvTile tile = call.kv.load(widest, row, rows, queries.kv_head, queries.wide(), desk.tile);
    // Queries before `first` see nothing of this tile.
    int64_t first = see_rows(call, queries, row, rows, desk.visible);
    if (queries.wide()) first -= first % laid_together;
    const float* q = desk.q + first * (queries.wide() ? Desk::laid_stride(call) : call.head_dim);
    const int32_t* visible = desk.visible + first;
    float *m = states.m + first, *sum = states.s + first, *o = states.o + first * call.head_dim;
    if (queries.wide()) {
      call.kernels->attend_wide(q, n - first, tile, call.head_dim, call.scale, visible, m, sum, o,
                                call.head_dim);
    } else {
      call.kernels->attend(q, call.head_dim, n - first, tile, call.head_dim, call.scale, visible, m, sum, o,
                           call.head_dim);
    }
  }
}

/// y = o / s; a query that saw no row gets zeros.
void finish_query(const Call& call, int64_t token, int64_t head, float s, const float* o) {
  float* y = call.y + token * call.y_stride + head * call.head_dim;
  if (s == 0.0f) {
    std::fill_n(y, call.head_dim, 0.0f);
  } else {
    call.kernels->scale_f32(y, o, 1.0f / s, call.head_dim);
  }
}

int64_t chunks_of(int64_t rows) { return (rows + attn_chunk_rows - 1) / attn_chunk_rows; }

/// Prefill: a unit is a token block and a KV head and runs its chunks in order.
void attend_block(const Call& call, const Queries& queries, const Desk& desk) {
  load_queries(call, queries, desk.q, desk.fresh.o);
  attend_chunk(call, queries, 0, desk, desk.running);
  const int64_t chunks = chunks_of(call.plan->visible[size_t(queries.block.widest)].rows);
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    attend_chunk(call, queries, chunk, desk, desk.fresh);
    for (int64_t i = 0; i < queries.count(); ++i) {
      call.kernels->attend_merge_f32(desk.running.m + i, desk.running.s + i,
                                     desk.running.o + i * call.head_dim, desk.fresh.m[i], desk.fresh.s[i],
                                     desk.fresh.o + i * call.head_dim, call.head_dim);
    }
  }
  for (int64_t i = 0; i < queries.count(); ++i) {
    finish_query(call, queries.token(i), queries.head(i), desk.running.s[i],
                 desk.running.o + i * call.head_dim);
  }
}

void emit_blocks(Encoder& encoder, const Call& call, std::vector<Access> reads, const Access& writes) {
  const auto work = [call](const Lane& lane) {
    const Desk desk(call, lane.scratch);
    const int64_t units = int64_t(call.plan->blocks.size()) * call.n_kv_heads;
    // Later blocks see more rows: whoever has the earlier ones helps with the later ones.
    lane.share_out(units, 1, [&](Range unit) {
      const TokenBlock& block = call.plan->blocks[size_t(unit.begin / call.n_kv_heads)];
      attend_block(call, {call, block, unit.begin % call.n_kv_heads}, desk);
    });
  };
  encoder.step({"attention", work, std::move(reads), {writes}});
}

/// Chunk states of every (token, head), chunk after chunk: {o[head_dim], m, s}.
struct ChunkStates {
  float* data;
  int64_t chunks, head_dim;
  int64_t stride() const { return head_dim + 2; }
  float* at(int64_t query, int64_t chunk) const { return data + (query * chunks + chunk) * stride(); }
};

void attend_unit(const Call& call, const ChunkStates& out, const Queries& queries, int64_t chunk,
                 const Desk& desk) {
  load_queries(call, queries, desk.q, desk.fresh.o);
  attend_chunk(call, queries, chunk, desk, desk.running);
  for (int64_t i = 0; i < queries.count(); ++i) {
    float* state = out.at(queries.token(i) * call.n_heads + queries.head(i), chunk);
    std::memcpy(state, desk.running.o + i * call.head_dim, size_t(call.head_dim) * sizeof(float));
    state[call.head_dim] = desk.running.m[i];
    state[call.head_dim + 1] = desk.running.s[i];
  }
}

/// Decode: the units are (block, chunk, KV head), so that all queries of a group share each row.
void attend_chunks(const Call& call, const ChunkStates& out, const Lane& lane) {
  const Desk desk(call, lane.scratch);
  const auto units_of = [&](const TokenBlock& block) {
    return call.n_kv_heads * chunks_of(call.plan->visible[size_t(block.widest)].rows);
  };
  int64_t units = 0;
  for (const TokenBlock& block : call.plan->blocks) units += units_of(block);
  lane.share_out(units, 1, [&](Range taken) {
    int64_t unit = taken.begin;
    const TokenBlock* block = call.plan->blocks.data();
    for (; unit >= units_of(*block); ++block) unit -= units_of(*block);
    attend_unit(call, out, {call, *block, unit % call.n_kv_heads}, unit / call.n_kv_heads, desk);
  });
}

void merge_query(const Call& call, const ChunkStates& states, int64_t query) {
  const int64_t token = query / call.n_heads, head = query % call.n_heads;
  const int64_t chunks = chunks_of(call.plan->visible[size_t(token)].rows);
  float* first = states.at(query, 0);
  for (int64_t chunk = 1; chunk < chunks; ++chunk) {
    const float* next = states.at(query, chunk);
    call.kernels->attend_merge_f32(first + call.head_dim, first + call.head_dim + 1, first,
                                   next[call.head_dim], next[call.head_dim + 1], next, call.head_dim);
  }
  finish_query(call, token, head, chunks == 0 ? 0.0f : first[call.head_dim + 1], first);
}

void emit_chunks(Encoder& encoder, const Call& call, int64_t most_rows, std::vector<Access> reads,
                 const Access& writes) {
  const int64_t most_chunks = chunks_of(most_rows);
  ChunkStates states{nullptr, most_chunks, call.head_dim};
  const int64_t queries = call.tokens * call.n_heads;
  const size_t bytes = size_t(queries * most_chunks * states.stride()) * sizeof(float);
  states.data = reinterpret_cast<float*>(encoder.states(bytes));
  const Access between{states.data, bytes};
  const auto attend = [call, states](const Lane& lane) { attend_chunks(call, states, lane); };
  encoder.step({"attention", attend, std::move(reads), {between}});
  const bool solo = queries * call.head_dim <= solo_elements;
  const auto merge = [=](const Lane& lane) {
    const Range mine = share(queries, 1, lane.worker);
    for (int64_t query = mine.begin; query < mine.end; ++query) merge_query(call, states, query);
  };
  encoder.step({"attention_merge", merge, {between}, {between, writes}, {}, solo});
}

[[noreturn]] void refuse_window(const std::string& name, int64_t token, const std::string& found,
                                int64_t n_ctx) {
  throw Error(ErrorCode::bad_request,
              fmt::format("running {}: the window of token {} is {}, expected rows within 0 to {}", name,
                          token, found, n_ctx));
}

void check_range(const std::string& name, int64_t token, int64_t lo, int64_t hi, int64_t n_ctx) {
  if (lo < 0 || hi < lo || hi > n_ctx) refuse_window(name, token, fmt::format("[{}, {})", lo, hi), n_ctx);
}

void check_run(const std::string& name, int64_t token, int64_t cell, int64_t length, int64_t n_ctx) {
  if (cell < 0 || length < 0 || cell + length > n_ctx) {
    refuse_window(name, token, fmt::format("{} rows from cell {}", length, cell), n_ctx);
  }
}

void check_windows(Encoder& encoder, const Node& node, WindowKind kind, const int32_t* window, int64_t tokens,
                   int64_t n_ctx) {
  if (kind == WindowKind::causal) return check_indices(encoder, node, "position", window, tokens, n_ctx);
  encoder.check({"window", window, tokens, n_ctx}, [name = node.name, kind, window, tokens, n_ctx] {
    if (kind == WindowKind::ranges) {
      for (int64_t t = 0; t < tokens; ++t) check_range(name, t, window[t], window[tokens + t], n_ctx);
      return;
    }
    for (int64_t i = 0; i < tokens * max_window_runs; ++i) {
      check_run(name, i / max_window_runs, window[2 * i], window[2 * i + 1], n_ctx);
    }
  });
}

/// The window operand, or the positions if causal. Its size must be its kind's.
const int32_t* window_data(Encoder& encoder, const PlacedNode& placed, WindowKind kind, int64_t tokens) {
  const Node& node = *placed.node;
  if (kind == WindowKind::causal) return encoder.indices(node, placed.sources[2], tokens);
  const int64_t expected = kind == WindowKind::ranges ? 2 * tokens : tokens * max_window_runs * 2;
  const int64_t found = placed.sources.size() > 3 ? placed.sources[3].desc.elements() : 0;
  if (found != expected) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("its window has {} values for {} tokens, expected {} for ranges or {} for runs", found,
                       tokens, 2 * tokens, tokens * max_window_runs * 2));
  }
  return encoder.indices(node, placed.sources[3], expected);
}

const AttentionPlan* plan_of(Encoder& encoder, WindowKind kind, const int32_t* window, int64_t tokens,
                             int64_t block_tokens) {
  std::shared_ptr<AttentionPlan>& plan = encoder.plan({kind, window, tokens, block_tokens});
  if (!plan) {
    plan = std::make_shared<AttentionPlan>();
    encoder.prepare(
        [plan, kind, window, tokens, block_tokens] { plan->fill(kind, window, tokens, block_tokens); });
  }
  return plan.get();
}

}  // namespace

void encode_attention(Encoder& encoder, const PlacedNode& placed) {
  const Node& node = *placed.node;
  const auto& op = std::get<Attention>(node.op);
  const Values q = source(placed, 0), y = output(placed);
  const int64_t width = op.n_heads * op.head_dim, kv_dim = op.n_kv_heads * op.head_dim;
  // A fused decode op leaves q at the front of a wider row.
  const bool fits = q.cols == width || (q.tokens == 1 && q.cols > width);
  const TensorDesc& region = placed.sources[1].desc;
  if (!fits || y.cols != width || y.tokens != q.tokens || region.cols() != kv_dim) {
    refuse(node, ErrorCode::bad_model,
           fmt::format("q is {}, the KV region {}, the output {}; expected {} heads over {} KV heads of {}",
                       to_string(placed.sources[0].desc), to_string(region), to_string(placed.output.desc),
                       op.n_heads, op.n_kv_heads, op.head_dim));
  }
  const KvPlace kv = kv_place(placed, kv_dim, op.format);
  const int32_t* window = window_data(encoder, placed, op.window, q.tokens);
  check_windows(encoder, node, op.window, window, q.tokens, kv.n_ctx);

  const int64_t group = op.n_heads / op.n_kv_heads;
  const int64_t block_tokens =
      std::clamp<int64_t>(block_floats / (op.head_dim * group), 1, most_block_tokens);
  const Call call{.kernels = &encoder.kernels,
                  .kv = KvReader(encoder.kernels, kv, op.head_dim),
                  .q = q.data,
                  .y = y.data,
                  .q_stride = q.cols,
                  .y_stride = y.cols,
                  .n_heads = op.n_heads,
                  .n_kv_heads = op.n_kv_heads,
                  .head_dim = op.head_dim,
                  .tokens = q.tokens,
                  .block_tokens = block_tokens,
                  .scale = op.scale,
                  .plan = plan_of(encoder, op.window, window, q.tokens, block_tokens)};
  encoder.need_scratch(Desk::bytes(call));
  std::vector<Access> reads{q.access(), kv.k_access(), kv.v_access()};
  if (q.tokens <= chunked_tokens) {
    // Runs may name a cell more than once, but each is no longer than the region.
    const int64_t most_rows = op.window == WindowKind::runs ? kv.n_ctx * max_window_runs : kv.n_ctx;
    emit_chunks(encoder, call, most_rows, std::move(reads), y.access());
  } else {
    emit_blocks(encoder, call, std::move(reads), y.access());
  }
}

}  // namespace minfer::cpu
