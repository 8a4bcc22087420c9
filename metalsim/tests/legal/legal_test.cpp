/// Each kernel here is right, and the checker must be silent about it: in every order of lanes, on one core
/// and on two.
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "support/launch.h"

using namespace metalsim;
using test::Buffer;
using test::Launch;

namespace {

struct Legal {
  const char* kernel;
  std::function<void(const char* kernel)> run;
};

void one_group(const char* kernel) {
  Buffer y(64 * 4);
  Launch(kernel).buffer(0, y).threadgroup(0, 512).run(1, 64);
}
void four_groups(const char* kernel) {
  Buffer y(64 * 4);
  Launch(kernel).buffer(0, y).threadgroup(0, 64).run(4, 16);
}
void x_to_y(const char* kernel) {
  Buffer x(64 * 4), y(64 * 4);
  Launch(kernel).buffer(0, x).buffer(1, y).run(4, 16);
}

/// Two dispatches of one concurrent encoder, bound before the first runs.
void two_dispatches(Launch& first, Launch& second, const std::function<void(BarrierRegion&)>& between) {
  BarrierRegion region;
  first.run(2, 32, &region);
  between(region);
  second.run(2, 32, &region);
}

const Legal legal[] = {
    {"broadcast_and_rewrite", one_group},
    {"tree", one_group},
    {"device_exchange", one_group},
    {"device_exchange_in_simdgroup", one_group},
    {"shared_in_simdgroup", one_group},
    {"simdgroup_leaves", one_group},
    {"lanes_leave",
     [](const char* kernel) {
       Buffer y(50 * 4);
       Launch(kernel).buffer(0, y).bytes(1, 50u).run(2, 32);
       CHECK(y.as<float>()[0] == 31);  // the maximum over those that stayed
       CHECK(y.as<float>()[49] == 49);
     }},
    {"surplus_threads_pass_the_barrier",
     [](const char* kernel) {
       Buffer y(50 * 4);
       Launch(kernel).buffer(0, y).bytes(1, 50u).threadgroup(0, 200).run(1, 64);
     }},
    {"count_atomically",
     [](const char* kernel) {
       Buffer counter(8);
       Launch(kernel).buffer(0, counter).run(4, 16);
       CHECK(counter.as<uint32_t>()[0] % 2016 == 0);
       CHECK(counter.as<uint32_t>()[1] == 63);
     }},
    {"histogram",
     [](const char* kernel) {
       Buffer y(64 * 4);
       Launch(kernel).buffer(0, y).run(1, 64);
       for (int i = 0; i < 8; ++i) CHECK(y.as<uint32_t>()[i] == 8);
     }},
    {"narrow_neighbours",
     [](const char* kernel) {
       Buffer h(64 * 2), b(64);
       Launch(kernel).buffer(0, h).buffer(1, b).threadgroup(0, 32).run(4, 16);
     }},
    {"update_own", four_groups},
    {"in_place",
     [](const char* kernel) {
       Buffer x(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, x).run(4, 16);
     }},
    {"all_read_one", x_to_y},
    {"double_buffer", one_group},
    {"array_of_structs", one_group},
    {"matrices",
     [](const char* kernel) {
       Buffer x(64 * 4), y(64 * 4);
       Launch(kernel).buffer(0, x).buffer(1, y).threadgroup(0, 256).run(1, 32);
     }},
    {"ways_of_simdgroups",
     [](const char* kernel) {
       Buffer y(64 * 4);
       Launch(kernel).buffer(0, y).run(1, 64);
       CHECK(y.as<float>()[0] == 32 + 20);
       CHECK(y.as<float>()[63] == 32);
     }},
    {"table_and_own_memory", four_groups},
    {"wraps",
     [](const char* kernel) {
       Buffer y(64 * 4), b(64);
       Launch(kernel).buffer(0, y).buffer(1, b).run(4, 16);
     }},
    {"uneven_grid",
     [](const char* kernel) {
       Buffer y(50 * 4);
       Launch(kernel).buffer(0, y).threadgroup(0, 128).threads(50).run(2, 32);
     }},
    {"private_parts", one_group},
    {"write_all",  // new memory, written by one dispatch and read by the next, with a barrier
     [](const char* kernel) {
       Buffer x(64 * 4, 0, false), y(64 * 4, 0, false);
       Launch first(kernel), second("all_read_one");
       first.buffer(0, x);
       second.buffer(0, x).buffer(1, y);
       two_dispatches(first, second, [](BarrierRegion& region) { region.barrier(); });
     }},
    {"write_all",  // a barrier for the one buffer that needs it
     [](const char* kernel) {
       Buffer x(64 * 4), y(64 * 4);
       Launch first(kernel), second("all_read_one");
       first.buffer(0, x);
       second.buffer(0, x).buffer(1, y);
       two_dispatches(first, second, [&](BarrierRegion&) { memory_barrier(x.memory()); });
     }},
    {"all_read_one",  // two dispatches that read the same and write apart need no barrier
     [](const char* kernel) {
       Buffer x(64 * 4), y(64 * 4), z(64 * 4);
       Launch first(kernel), second(kernel);
       first.buffer(0, x).buffer(1, y);
       second.buffer(0, x).buffer(1, z);
       two_dispatches(first, second, [](BarrierRegion&) {});
     }},
    {"write_all",  // two dispatches that write two halves of one buffer
     [](const char* kernel) {
       Buffer y(128 * 4);
       memory_narrow(y.memory(), 0, 64 * 4, "first half");
       memory_narrow(y.memory(), 64 * 4, 64 * 4, "second half");
       Launch first(kernel), second(kernel);
       first.buffer(0, y);
       second.buffer(0, y, 64 * 4);
       two_dispatches(first, second, [](BarrierRegion&) {});
     }},
};

}  // namespace

TEST_CASE("the checker is silent about legal kernels") {
  struct Way {
    Order order;
    uint32_t cores;
    bool compare;
  };
  for (const Way& way :
       {Way{Order::ascending, 1, false}, Way{Order::descending, 1, false}, Way{Order::random, 1, false},
        Way{Order::ascending, 2, false}, Way{Order::ascending, 1, true}}) {
    Options options;
    options.order = way.order;
    options.cores = way.cores;
    options.compare_orders = way.compare;
    options.check_finite = true;
    options.print_reports = false;
    set_options(options);
    for (const Legal& test : legal) {
      CAPTURE(std::string(test.kernel));
      CAPTURE(int(way.order));
      CAPTURE(way.compare);
      clear_reports();
      test.run(test.kernel);
      for (const Report& report : reports()) FAIL_CHECK(report.text());
    }
  }
}
