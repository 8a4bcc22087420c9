#include "backends/cpu/isa/quant_scratch.h"
#include "kernels_quant/quant_test.h"

/// Every instruction set gives the reference's bits, whatever the number of rows and tokens in a call.
namespace minfer::cpu::test {
namespace {

constexpr int64_t most_rows = 40, most_tokens = 33;

std::vector<int64_t> column_counts(const Format& format) {
  if (format.elements == 256) return {256, 512, 1024};
  return {32, 64, 96, 256, 576};
}

/// All counts of rows and tokens up to the most against one reference: sub-matrices must have the same bits.
void check_all_shapes(const Format& format, Weights& w, QuantisedTokens& x) {
  Product want(scalar_table(), format, w, x, most_rows, most_tokens);
  for (const KernelTable* table : vector_tables()) {
    for (int64_t rows = 1; rows <= most_rows; ++rows) {
      for (int64_t tokens = 1; tokens <= most_tokens; ++tokens) {
        Product got(*table, format, w, x, rows, tokens);
        INFO(table->isa, " ", format.name, " ", x.cols, " columns, ", rows, " rows, ", tokens, " tokens");
        REQUIRE(difference(got, want) == "");
        REQUIRE(got.guards_intact());
      }
    }
  }
}

}  // namespace

TEST_CASE("integer products have the reference's bits for every count of rows, columns and tokens") {
  for (const Format& format : formats()) {
    for (const int64_t cols : column_counts(format)) {
      Weights w = random_weights(format, most_rows, cols, 0, uint32_t(cols), ordinary_scale);
      QuantisedTokens x(normal_values(most_tokens * cols, uint32_t(cols) + 1), cols);
      check_all_shapes(format, w, x);
    }
  }
}

TEST_CASE("integer products have the reference's bits for extreme scales and padded rows") {
  for (const Format& format : formats()) {
    Weights w = random_weights(format, most_rows, 256, 6, 3, extreme_scale);
    QuantisedTokens x(normal_values(most_tokens * 256, 4, 1e-30f), 256);
    for (size_t b = 0; b < x.d.size(); b += 3) x.d[b] = b % 2 ? 0.0f : 0x1p-140f;
    check_all_shapes(format, w, x);
  }
}

TEST_CASE("integer dots are exact at the largest weights and activations") {
  for (const Format& format : formats()) {
    for (const int weight : {0x00, 0x7f, 0x80, 0xff}) {
      Weights w = random_weights(format, most_rows, 256, 0, 5, ordinary_scale);
      for (int64_t r = 0; r < most_rows; ++r) {
        for (int64_t i = 0; i < 256 / format.elements * format.bytes; ++i) {
          const bool half = std::any_of(format.halves.begin(), format.halves.end(), [&](int at) {
            return i % format.bytes == at || i % format.bytes == at + 1;
          });
          if (!half) w.row(r)[i] = std::byte(weight);
        }
      }
      QuantisedTokens x(most_tokens, 256);
      for (size_t i = 0; i < x.q.size(); ++i) x.q[i] = i / 256 % 2 ? 127 : -127;
      for (float& d : x.d) d = 0.03f;
      x.set_sums();
      check_all_shapes(format, w, x);
    }
  }
}

TEST_CASE("rows longer than a panel have the reference's bits") {
  for (const Format& format : formats()) {
    for (const int64_t cols : {4096, 4352, 8704}) {
      Weights w = random_weights(format, most_rows, cols, 0, 6, ordinary_scale);
      QuantisedTokens x(normal_values(most_tokens * cols, 7), cols);
      Product want(scalar_table(), format, w, x, most_rows, most_tokens);
      for (const KernelTable* table : vector_tables()) {
        for (const int64_t tokens : {1, 4, 33}) {
          Product got(*table, format, w, x, 39, tokens);
          INFO(table->isa, " ", format.name, " ", cols, " columns, ", tokens, " tokens");
          CHECK(difference(got, want) == "");
          CHECK(got.guards_intact());
        }
      }
    }
  }
}

TEST_CASE("products of more rows and tokens than one strip has have the reference's bits") {
  constexpr int64_t rows = strip_rows + 39, cols = 1280, tokens = panel_tokens(cols) + 5;
  for (const Format& format : formats()) {
    Weights w = random_weights(format, rows, cols, 0, 12, ordinary_scale);
    QuantisedTokens x(normal_values(tokens * cols, 13), cols);
    Product want(scalar_table(), format, w, x, rows, tokens);
    for (const KernelTable* table : vector_tables()) {
      Product got(*table, format, w, x, rows, tokens);
      INFO(table->isa, " ", format.name);
      CHECK(difference(got, want) == "");
      CHECK(got.guards_intact());
    }
  }
}

TEST_CASE("a token that is not finite gives NaN in its own column only") {
  for (const Format& format : formats()) {
    Weights w = random_weights(format, most_rows, 256, 0, 8, ordinary_scale);
    for (const float bad :
         {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
      std::vector<float> values = normal_values(5 * 256, 9);
      values[2 * 256 + 77] = bad;
      QuantisedTokens x(values, 256);
      for (const KernelTable* table : built_tables()) {
        if (!table->runs_here()) continue;
        Product got(*table, format, w, x, most_rows, 5);
        for (int64_t t = 0; t < 5; ++t) {
          for (int64_t r = 0; r < most_rows; ++r) {
            INFO(table->isa, " ", format.name, " token ", t, " row ", r);
            REQUIRE(std::isnan(got.at(t, r)) == (t == 2));
          }
        }
      }
    }
  }
}

TEST_CASE("a scale that is not finite gives NaN in its own row only") {
  for (const Format& format : formats()) {
    for (const uint16_t bad : {0x7c00, 0xfc00, 0x7e00}) {
      Weights w = random_weights(format, most_rows, 256, 0, 10, ordinary_scale);
      std::memcpy(w.row(2) + format.halves[0], &bad, sizeof bad);
      QuantisedTokens x(normal_values(5 * 256, 11), 256);
      for (const KernelTable* table : built_tables()) {
        if (!table->runs_here()) continue;
        for (const int64_t tokens : {1, 5}) {
          Product got(*table, format, w, x, most_rows, tokens);
          for (int64_t t = 0; t < tokens; ++t) {
            for (int64_t r = 0; r < most_rows; ++r) {
              INFO(table->isa, " ", format.name, " token ", t, " row ", r);
              REQUIRE(std::isnan(got.at(t, r)) == (r == 2));
            }
          }
        }
      }
    }
  }
}

}  // namespace minfer::cpu::test
