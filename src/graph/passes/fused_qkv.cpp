#include <algorithm>
#include <optional>

#include "graph/passes/rewrite.h"

/// Both arms match one chain, ending in a layer's KvStore:
///
///   q: MatMul -> [QkNorm] -> Rope -> Attention        k: MatMul -> [QkNorm] -> Rope -> KvStore
///   v: MatMul -> KvStore
///
/// The arm takes the place of the first of the three matmuls: its sources stand before it and every reader
/// after. A KvLoad stays; an Attention that reads the KvStore itself finds a KvLoad in its place.
namespace minfer {
namespace {

/// One of q, k, v, from its matmul to the value that is stored or attended to.
struct Chain {
  const Node* matmul = nullptr;
  const Node* norm = nullptr;
  const Node* rope = nullptr;
  const MatMul& op() const { return std::get<MatMul>(matmul->op); }
};

struct Match {
  const Node* store;
  const Node* attention;
  Chain q, k, v;
};

/// The chain above source `index` of `reader`; nothing if a link has another reader, op or backend.
std::optional<Chain> chain_above(const Matcher& matcher, const Node& reader, size_t index, bool roped,
                                 bool normed) {
  Chain chain;
  const Node* below = &reader;
  if (roped) {
    chain.rope = matcher.only_source<Rope>(*below, index);
    if (!chain.rope) return std::nullopt;
    below = chain.rope, index = 0;
  }
  if (normed) {
    chain.norm = matcher.only_source<QkNorm>(*below, index);
    if (!chain.norm) return std::nullopt;
    below = chain.norm, index = 0;
  }
  chain.matmul = matcher.only_source<MatMul>(*below, index);
  if (!chain.matmul) return std::nullopt;
  return chain;
}

/// The only live attention of the store's layer, else null.
const Node* attention_of(const Graph& graph, int layer) {
  const Node* found = nullptr;
  for (const Node& node : graph.nodes) {
    const auto* op = std::get_if<Attention>(&node.op);
    if (node.dead || !op || op->layer != layer) continue;
    if (found) return nullptr;
    found = &node;
  }
  return found;
}

/// The store may be read by its attention alone, as the kv source.
bool store_can_go(const Graph& graph, const Matcher& matcher, const Node& store, const Node& attention) {
  const int readers = matcher.readers(store.id);
  return readers == 0 || (readers == 1 && attention.sources[1] == store.id && !is_output(graph, store.id));
}

bool chains_agree(const Match& m) {
  const auto& q = std::get<Rope>(m.q.rope->op);
  const auto& k = std::get<Rope>(m.k.rope->op);
  const bool one_input =
      m.q.matmul->sources == m.k.matmul->sources && m.q.matmul->sources == m.v.matmul->sources;
  const bool one_rope =
      q.rope == k.rope && q.head_dim == k.head_dim && m.q.rope->sources[1] == m.k.rope->sources[1];
  const bool one_type = one_quantised_type({&m.q.op().weight, &m.k.op().weight, &m.v.op().weight});
  const auto& attention = std::get<Attention>(m.attention->op);
  const bool one_width =
      attention.n_heads == q.n_heads && attention.n_kv_heads == k.n_heads && attention.head_dim == q.head_dim;
  return one_input && one_rope && one_type && one_width;
}

std::optional<Match> match(const Graph& graph, const Matcher& matcher, const Node& store, bool normed) {
  const auto* op = std::get_if<KvStore>(&store.op);
  if (store.dead || !op) return std::nullopt;
  const Node* attention = attention_of(graph, op->layer);
  if (!attention || attention->backend != store.backend) return std::nullopt;
  if (!store_can_go(graph, matcher, store, *attention)) return std::nullopt;
  const auto q = chain_above(matcher, *attention, 0, true, normed);
  const auto k = chain_above(matcher, store, 0, true, normed);
  const auto v = chain_above(matcher, store, 1, false, false);
  if (!q || !k || !v) return std::nullopt;
  const Match found{&store, attention, *q, *k, *v};
  if (!chains_agree(found)) return std::nullopt;
  return found;
}

FusedQkv payload(const Match& m) {
  const auto& q = std::get<Rope>(m.q.rope->op);
  const auto& k = std::get<Rope>(m.k.rope->op);
  const auto& store = std::get<KvStore>(m.store->op);
  return {store.layer, m.q.op(), m.k.op(), m.v.op(), q.rope, q.n_heads, k.n_heads, q.head_dim, store.format};
}

/// The payload with both norms, if there are no biases and the norms agree.
std::optional<Op> payload_with_norms(const Match& m) {
  const auto& q = std::get<QkNorm>(m.q.norm->op);
  const auto& k = std::get<QkNorm>(m.k.norm->op);
  if (m.q.op().bias || m.k.op().bias || m.v.op().bias) return std::nullopt;
  if (q.eps != k.eps || q.head_dim != k.head_dim) return std::nullopt;
  return FusedQkvNorm{payload(m), q.weight, k.weight, q.eps};
}

/// All three biases or none: there is no kernel for a part of them.
std::optional<Op> payload_without_norms(const Match& m) {
  const int biases =
      int(m.q.op().bias.has_value()) + int(m.k.op().bias.has_value()) + int(m.v.op().bias.has_value());
  if (biases != 0 && biases != 3) return std::nullopt;
  return payload(m);
}

bool rewrite(Graph& graph, const FuseContext& context, const Match& m, Op op) {
  const NodeId place = std::min({m.q.matmul->id, m.k.matmul->id, m.v.matmul->id});
  Node fused = graph.nodes[size_t(place)];
  fused.name = m.attention->name + "_qkv";
  fused.op = std::move(op);
  fused.sources = {m.q.matmul->sources[0], m.q.rope->sources[1], m.store->sources[2]};
  const bool sources_stand_before =
      std::all_of(fused.sources.begin(), fused.sources.end(), [&](NodeId source) { return source < place; });
  if (!sources_stand_before) return false;
  fused.desc = infer_node(graph, fused);
  if (!context.supported(fused)) return false;

  for (const Chain* chain : {&m.q, &m.k, &m.v}) {
    for (const Node* node : {chain->matmul, chain->norm, chain->rope}) {
      if (node) retire(graph, node->id);
    }
  }
  const KvStore store = std::get<KvStore>(m.store->op);
  Node& stored = graph.nodes[size_t(m.store->id)];
  if (m.attention->sources[1] == stored.id) {
    stored.op = KvLoad{store.layer, store.kv_dim, store.format};
    stored.sources.clear();
  } else {
    retire(graph, stored.id);
  }
  graph.nodes[size_t(m.attention->id)].sources[0] = place;
  graph.nodes[size_t(place)] = std::move(fused);
  return true;
}

int fuse_layers(Graph& graph, const FuseContext& context, bool normed) {
  if (context.params.n_tokens != 1 || !context.params.context.fuse_qkv) return 0;
  int rewritten = 0;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!std::holds_alternative<KvStore>(graph.nodes[i].op)) continue;
    const auto found = match(graph, Matcher(graph), graph.nodes[i], normed);
    if (!found) continue;
    std::optional<Op> op = normed ? payload_with_norms(*found) : payload_without_norms(*found);
    if (op && rewrite(graph, context, *found, std::move(*op))) ++rewritten;
  }
  return rewritten;
}

}  // namespace

int fuse_qkv(Graph& graph, const FuseContext& context) { return fuse_layers(graph, context, false); }

int fuse_qkv_norm(Graph& graph, const FuseContext& context) { return fuse_layers(graph, context, true); }

}  // namespace minfer
