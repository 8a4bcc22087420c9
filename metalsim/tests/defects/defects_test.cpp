/// Each kernel here has one defect. The checker must report it: its kind, its line and, for conflicts, the
/// earlier line; and nothing else. The lines are marked in the sources.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "support/launch.h"
#include "support/markers.h"

using namespace metalsim;
using test::Buffer;
using test::Launch;

namespace {

struct Defect {
  const char* file;
  const char* kernel;
  ReportKind kind;
  std::function<void(const char* kernel)> run;
};

/// y (64 floats at buffer 0), 256 bytes of threadgroup memory, one threadgroup of 64.
void one_group(const char* kernel) {
  Buffer y(64 * 4);
  Launch(kernel).buffer(0, y).threadgroup(0, 256).run(1, 64);
}
/// x at buffer 0 and y at buffer 1, 64 floats each.
void x_to_y(const char* kernel) {
  Buffer x(64 * 4), y(64 * 4);
  Launch(kernel).buffer(0, x).buffer(1, y).run(2, 32);
}
void two_groups(const char* kernel) {
  Buffer y(64 * 4);
  Launch(kernel).buffer(0, y).threadgroup(0, 128).run(2, 32);
}
template <class T>
std::function<void(const char*)> with_y_and_value(T value) {
  return [value](const char* kernel) {
    Buffer y(64 * 4);
    Launch(kernel).buffer(0, y).bytes(1, value).run(2, 32);
  };
}

const Defect defects[] = {
    {"bounds", "read_past_end", ReportKind::device_out_of_bounds, x_to_y},
    {"bounds", "read_before_begin", ReportKind::device_out_of_bounds, x_to_y},
    {"bounds", "write_past_end", ReportKind::device_out_of_bounds, two_groups},
    {"bounds", "read_far_away", ReportKind::device_out_of_bounds, x_to_y},
    {"bounds", "wild_pointer", ReportKind::device_out_of_bounds, two_groups},
    {"bounds", "vector_past_end", ReportKind::device_out_of_bounds, x_to_y},
    {"bounds", "threadgroup_argument_past_end", ReportKind::threadgroup_out_of_bounds, one_group},
    {"bounds", "threadgroup_array_past_end", ReportKind::threadgroup_out_of_bounds, one_group},
    {"bounds", "write_to_constant", ReportKind::read_only_write,
     [](const char* kernel) {
       Buffer y(64 * 4);
       Launch(kernel).bytes(0, 1.0f).buffer(1, y).run(2, 32);
     }},
    {"bounds", "write_to_const_buffer", ReportKind::read_only_write, x_to_y},
    {"bounds", "matrix_past_end", ReportKind::device_out_of_bounds,
     [](const char* kernel) {
       Buffer x(64 * 4), y(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, y).run(1, 32);
     }},
    {"bounds", "missing_guard", ReportKind::device_out_of_bounds,
     [](const char* kernel) {
       Buffer x(50 * 4), y(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, y).bytes(2, 50u).run(2, 32);
     }},

    {"races", "lanes_without_barrier", ReportKind::threadgroup_race, one_group},
    {"races", "read_then_overwritten", ReportKind::threadgroup_race, one_group},
    {"races", "all_write_one", ReportKind::threadgroup_race, one_group},
    {"races", "barrier_without_memory", ReportKind::threadgroup_race, one_group},
    {"races", "barrier_of_wrong_memory", ReportKind::device_race, one_group},
    {"races", "barrier_of_simdgroup_only", ReportKind::threadgroup_race, one_group},
    {"races", "missing_in_tree", ReportKind::threadgroup_race, one_group},
    {"races", "buffer_reused_too_early", ReportKind::threadgroup_race, one_group},
    {"races", "simd_sum_then_shared", ReportKind::threadgroup_race, one_group},
    {"races", "threadgroups_write_one", ReportKind::cross_group_race, two_groups},
    {"races", "threadgroup_reads_other", ReportKind::cross_group_race, two_groups},
    {"races", "atomic_and_plain", ReportKind::cross_group_race,
     [](const char* kernel) {
       Buffer counter(4);
       Launch(kernel).buffer(0, counter).buffer(1, counter).run(2, 1);
     }},
    {"races", "bytes_of_one_word", ReportKind::device_race, one_group},
    {"races", "matrix_store_then_read", ReportKind::threadgroup_race,
     [](const char* kernel) {
       Buffer y(64 * 4);
       Launch(kernel).buffer(0, y).threadgroup(0, 256).run(1, 32);
     }},
    {"races", "device_neighbours", ReportKind::device_race, one_group},

    {"divergence", "return_before_barrier", ReportKind::barrier_divergence, one_group},
    {"divergence", "two_barriers", ReportKind::barrier_divergence, one_group},
    {"divergence", "barrier_in_loop", ReportKind::barrier_divergence, one_group},
    {"divergence", "simd_in_branch", ReportKind::simd_divergence, one_group},
    {"divergence", "simd_against_barrier", ReportKind::barrier_divergence, one_group},
    {"divergence", "matrix_in_half_simdgroup", ReportKind::simd_divergence,
     [](const char* kernel) {
       Buffer y(64 * 4);
       Launch(kernel).buffer(0, y).run(1, 16);
     }},
    {"divergence", "shuffle_in_loop", ReportKind::simd_divergence, one_group},
    {"divergence", "matrix_in_branch", ReportKind::simd_divergence, one_group},
    {"divergence", "matrix_of_some_lanes", ReportKind::simd_divergence, one_group},
    {"divergence", "matrix_before_barrier", ReportKind::simd_divergence, one_group},
    {"divergence", "return_before_matrix", ReportKind::simd_divergence, one_group},
    {"divergence", "pause_of_some_lanes", ReportKind::simd_divergence, one_group},
    {"divergence", "more_matrices_of_some_lanes", ReportKind::simd_divergence, one_group},

    {"contents", "half_written", ReportKind::uninitialised_threadgroup, one_group},
    {"contents", "unwritten_array", ReportKind::uninitialised_threadgroup, one_group},
    {"contents", "left_by_the_last_group", ReportKind::uninitialised_threadgroup, two_groups},
    {"contents", "read_new_buffer", ReportKind::uninitialised_device,
     [](const char* kernel) {
       Buffer x(64 * 4, 0, false), y(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, y).run(2, 32);
     }},
    {"contents", "accumulate_into_new_buffer", ReportKind::uninitialised_device,
     [](const char* kernel) {
       Buffer y(64 * 4, 0, false);
       Launch(kernel).buffer(0, y).run(2, 32);
     }},
    {"contents", "read_new_buffer",
     ReportKind::uninitialised_device,  // half of it written by an earlier dispatch
     [](const char* kernel) {
       Buffer x(64 * 4, 0, false), y(64 * 4);
       Launch("write_even").buffer(0, x).run(1, 32);
       Launch(kernel).buffer(0, x).buffer(1, y).run(2, 32);
     }},

    {"values", "misaligned_vector", ReportKind::misaligned, one_group},
    {"values", "misaligned_scalar", ReportKind::misaligned,
     [](const char* kernel) {
       Buffer x(2000), y(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, y).run(1, 64);
     }},
    {"values", "index_product_overflows", ReportKind::arithmetic_overflow,
     [](const char* kernel) {
       Buffer x(64 * 4), y(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, y).bytes(2, 100000).bytes(3, 100000).run(2, 32);
     }},
    {"values", "offset_loses_its_upper_half", ReportKind::arithmetic_overflow,
     [](const char* kernel) {
       Buffer x(64 * 4), y(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, y).bytes(2, uint64_t(1) << 31).run(2, 32);
     }},
    {"values", "shift_too_far", ReportKind::arithmetic_overflow, with_y_and_value(33)},
    {"values", "own_array_past_end", ReportKind::array_bounds, with_y_and_value(4)},
    {"values", "divide_by_zero", ReportKind::arithmetic_overflow, with_y_and_value(0)},
    {"values", "ticket_order", ReportKind::order_dependence,
     [](const char* kernel) {
       Options options = metalsim::options();
       options.compare_orders = true;
       set_options(options);
       Buffer next(4), y(64 * 4);
       Launch(kernel).buffer(0, next).buffer(1, y).run(2, 32);
     }},
    {"values", "half_overflows", ReportKind::not_finite,
     [](const char* kernel) {
       Options options = metalsim::options();
       options.check_finite = true;
       set_options(options);
       Buffer x(64 * 4), y(64 * 2);
       for (int i = 0; i < 64; ++i) x.as<float>()[i] = float(i * 2);
       Launch(kernel).buffer(0, y).buffer(1, x).run(2, 32);
     }},
    {"values", "unsigned_index_wraps", ReportKind::arithmetic_overflow,
     [](const char* kernel) {
       Options options = metalsim::options();
       options.unsigned_overflow = true;
       set_options(options);
       x_to_y(kernel);
     }},
};

/// Reading too early is a race, but also a read of what nobody wrote yet if the reader happens to come first;
/// an array's end is guarded twice; lanes may meet the one or the other barrier first.
bool is_consequence(ReportKind kind, ReportKind of) {
  const auto divergence = [](ReportKind k) {
    return k == ReportKind::barrier_divergence || k == ReportKind::simd_divergence;
  };
  return kind == of ||
         (of == ReportKind::threadgroup_race && kind == ReportKind::uninitialised_threadgroup) ||
         (of == ReportKind::threadgroup_out_of_bounds && kind == ReportKind::array_bounds) ||
         (divergence(of) && divergence(kind));
}

/// A defect between dispatches of one concurrent encoder.
struct DispatchDefect {
  const char* name;
  const char *first, *second;  ///< kernels
  bool barrier_on_other_buffer;
};
const DispatchDefect dispatch_defects[] = {
    {"read after write", "produce", "consume", false},
    {"write after the first read of all", "consume", "produce", false},
    {"write after write", "produce", "produce", false},
    {"update of what another dispatch reads", "consume", "twice", false},
    {"barrier for another buffer only", "produce", "consume", true},
};

std::string source(const char* file) { return std::string(METALSIM_TEST_DIR "/defects/") + file + ".metal"; }

bool in_source(const ReportPlace& place, const char* file) {
  return place.file == std::string(file) + ".metal";
}

void check_place(const ReportPlace& place, const char* file, const char* kernel, const char* marker) {
  const uint32_t line = test::marked_line(source(file), kernel, marker);
  CHECK(place.line == line);
  CHECK(in_source(place, file));
}

/// The two lines of a conflict, whichever access came first.
void check_conflict(const Report& report, const Defect& defect) {
  const uint32_t both = test::marked_line(source(defect.file), defect.kernel, "here earlier");
  const uint32_t here = test::marked_line(source(defect.file), defect.kernel, "here");
  const uint32_t earlier = both ? both : test::marked_line(source(defect.file), defect.kernel, "earlier");
  CHECK(std::minmax(report.place.line, report.other.line) == std::minmax(here, earlier));
  CHECK(in_source(report.place, defect.file));
  CHECK(in_source(report.other, defect.file));
}

void run_defect(const Defect& defect, const Options& options) {
  set_options(options);
  clear_reports();
  defect.run(defect.kernel);
  set_options(options);
  const std::vector<Report> found = reports();
  REQUIRE(!found.empty());
  const Report* match = nullptr;
  for (const Report& report : found) {
    CAPTURE(report.text());
    CHECK(is_consequence(report.kind, defect.kind));
    CHECK(report.kernel == defect.kernel);
    if (report.kind == defect.kind && !match) match = &report;
  }
  REQUIRE(match);
  CAPTURE(match->text());
  if (match->other.line)
    check_conflict(*match, defect);
  else if (test::marked_line(source(defect.file), defect.kernel, "here"))
    check_place(match->place, defect.file, defect.kernel, "here");
  CHECK(!match->hint.empty());
}

Options quiet(Order order, uint32_t cores) {
  Options options;
  options.order = order;
  options.cores = cores;
  options.print_reports = false;
  return options;
}

}  // namespace

TEST_CASE("every planted defect of one dispatch is reported, with its lines, and nothing else is") {
  for (const Defect& defect : defects) {
    CAPTURE(std::string(defect.kernel));
    run_defect(defect, quiet(Order::ascending, 1));
  }
}

TEST_CASE("lanes in descending and random order and threadgroups on two cores show each defect as well") {
  for (const Options& options :
       {quiet(Order::descending, 1), quiet(Order::random, 1), quiet(Order::ascending, 2)}) {
    CAPTURE(int(options.order));
    for (const Defect& defect : defects) {
      CAPTURE(std::string(defect.kernel));
      set_options(options);
      clear_reports();
      defect.run(defect.kernel);
      set_options(options);
      bool found = false;
      for (const Report& report : reports()) {
        CAPTURE(report.text());
        CHECK(is_consequence(report.kind, defect.kind));
        found |= report.kind == defect.kind || defect.kind == ReportKind::simd_divergence;
      }
      CHECK(found);
    }
  }
}

TEST_CASE("a memoryBarrier that is missing between two dispatches is reported with both kernels' lines") {
  for (const DispatchDefect& defect : dispatch_defects) {
    CAPTURE(std::string(defect.name));
    set_options(quiet(Order::ascending, 1));
    clear_reports();
    Buffer shared(64 * 4, 0, true, "shared"), other(64 * 4), third(64 * 4);
    // As an encoder does: all dispatches are bound before the first runs.
    const auto bind = [&](const char* kernel, Buffer& own) {
      auto launch = std::make_unique<Launch>(kernel);
      launch->buffer(0, shared);
      if (std::string(kernel) == "consume") launch->buffer(1, own);
      return launch;
    };
    const auto first = bind(defect.first, other), second = bind(defect.second, third);
    BarrierRegion region;
    CHECK(first->run(2, 32, &region));
    if (defect.barrier_on_other_buffer) memory_barrier(other.memory());
    CHECK_FALSE(second->run(2, 32, &region));
    const std::vector<Report> found = reports();
    REQUIRE(!found.empty());
    CAPTURE(found[0].text());
    CHECK(found[0].kind == ReportKind::missing_barrier);
    CHECK(found[0].label == "shared");
    CHECK(found[0].kernel == defect.second);
    check_place(found[0].place, "dispatches", defect.second, "here");
    check_place(found[0].other, "dispatches", defect.first, "here");
    CHECK(found[0].message.find(defect.first) != std::string::npos);
  }
}

TEST_CASE("an overrun inside one large buffer is found where the binding is narrowed") {
  set_options(quiet(Order::ascending, 1));
  clear_reports();
  Buffer pool(1024), y(64 * 4);
  memory_narrow(pool.memory(), 256, 63 * 4, "weights");
  Launch("consume").buffer(0, pool, 256).buffer(1, y).run(2, 32);
  const std::vector<Report> found = reports();
  REQUIRE(found.size() == 1);
  CHECK(found[0].kind == ReportKind::device_out_of_bounds);
  CHECK(found[0].label == "weights");
  CHECK(found[0].offset == 63 * 4);
}

TEST_CASE("equal defects are one report, counted, and reports are bounded") {
  Options options = quiet(Order::ascending, 1);
  options.max_reports = 1;
  set_options(options);
  clear_reports();
  two_groups("threadgroups_write_one");
  REQUIRE(reports().size() == 1);
  CHECK(reports()[0].times == 32);
  two_groups("threadgroups_write_one");
  CHECK(reports()[0].times == 64);
  x_to_y("read_past_end");
  CHECK(reports().size() == 1);
}
