#include "graph/passes/passes.h"

namespace minfer::passes {
namespace {

/// The chain of one layer from the normed row to the cache, as the models build it.
struct Chain {
  Node *store, *attention;
  Node *q_rope, *k_rope;
  Node *q_norm = nullptr, *k_norm = nullptr;
  Node *q, *k, *v;
};

class Matcher {
 public:
  explicit Matcher(Graph& graph) : graph_(graph), consumers_(consumers_of(graph)) {}

  std::optional<Chain> match(Node& store, bool with_norms) {
    if (store.dead || !std::holds_alternative<KvStore>(store.op) || source(store, 0).desc.rows() != 1)
      return std::nullopt;
    Chain c{};
    c.store = &store;
    c.attention = attention_of(std::get<KvStore>(store.op).layer);
    if (!c.attention || !std::holds_alternative<KvLoad>(source(*c.attention, 1).op)) return std::nullopt;
    if (!consumers_[size_t(store.id)].empty()) return std::nullopt;
    c.q_rope = &source(*c.attention, 0);
    c.k_rope = &source(store, 0);
    c.v = &source(store, 1);
    if (!is<Rope>(*c.q_rope) || !is<Rope>(*c.k_rope)) return std::nullopt;
    Node* q = &source(*c.q_rope, 0);
    Node* k = &source(*c.k_rope, 0);
    if (with_norms) {
      if (!is<QkNorm>(*q) || !is<QkNorm>(*k)) return std::nullopt;
      c.q_norm = q, c.k_norm = k;
      q = &source(*q, 0), k = &source(*k, 0);
    }
    c.q = q, c.k = k;
    return coherent(c) ? std::optional(c) : std::nullopt;
  }

 private:
  template <class T>
  static bool is(const Node& node) {
    return std::holds_alternative<T>(node.op);
  }
  Node& source(const Node& node, size_t i) { return graph_.nodes[size_t(node.sources[i])]; }

  Node* attention_of(int layer) {
    for (Node& node : graph_.nodes)
      if (const auto* a = std::get_if<Attention>(&node.op); a && a->layer == layer && !node.dead)
        return &node;
    return nullptr;
  }

  bool coherent(const Chain& c) {
    if (!is<MatMul>(*c.q) || !is<MatMul>(*c.k) || !is<MatMul>(*c.v)) return false;
    if (c.q->sources != c.k->sources || c.q->sources != c.v->sources) return false;
    if (std::get<Rope>(c.q_rope->op).rope != std::get<Rope>(c.k_rope->op).rope) return false;
    if (c.q_rope->sources[1] != c.k_rope->sources[1]) return false;
    for (Node* node : {c.q_rope, c.k_rope, c.q_norm, c.k_norm, c.q, c.k, c.v})
      if (node && (consumers_[size_t(node->id)].size() != 1 || node->backend != c.store->backend))
        return false;
    const auto &q = std::get<MatMul>(c.q->op), &k = std::get<MatMul>(c.k->op), &v = std::get<MatMul>(c.v->op);
    const int biases = int(q.bias.has_value()) + int(k.bias.has_value()) + int(v.bias.has_value());
    if (c.q_norm ? biases != 0 : biases != 0 && biases != 3) return false;
    return one_quantised_type({&q.weight, &k.weight, &v.weight});
  }

  Graph& graph_;
  std::vector<std::vector<NodeId>> consumers_;
};

void rewrite(Graph& graph, Backends backends, bool with_norms) {
  Matcher matcher(graph);
  for (Node& store : graph.nodes) {
    const auto chain = matcher.match(store, with_norms);
    if (!chain) continue;
    const auto& attention = std::get<Attention>(chain->attention->op);
    FusedQkv fused{attention.layer,
                   std::get<MatMul>(chain->q->op),
                   std::get<MatMul>(chain->k->op),
                   std::get<MatMul>(chain->v->op),
                   std::get<Rope>(chain->q_rope->op).rope,
                   attention.n_heads,
                   attention.n_kv_heads,
                   attention.head_dim,
                   attention.format};
    Op op = fused;
    if (with_norms) {
      const auto &q_norm = std::get<QkNorm>(chain->q_norm->op), &k_norm = std::get<QkNorm>(chain->k_norm->op);
      if (q_norm.eps != k_norm.eps) continue;
      op = FusedQkvNorm{fused, q_norm.weight, k_norm.weight, q_norm.eps};
    }
    std::vector<NodeId> sources = {chain->q->sources[0], chain->q_rope->sources[1], store.sources[2]};
    if (!replace_if_supported(graph, store.id, std::move(op), std::move(sources), backends)) continue;
    for (Node* node :
         {chain->q_rope, chain->k_rope, chain->q_norm, chain->k_norm, chain->q, chain->k, chain->v})
      if (node) node->dead = true;
    chain->attention->sources[0] = store.id;
  }
}

}  // namespace

void fused_qkv(Graph& graph, Backends backends) { rewrite(graph, backends, false); }
void fused_qkv_norm(Graph& graph, Backends backends) { rewrite(graph, backends, true); }

}  // namespace minfer::passes
