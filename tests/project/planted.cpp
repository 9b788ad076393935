// SPDX-License-Identifier: MIT
// One mistake, by its name: a build with sanitizers has to end at it.
#include <climits>
#include <cstdio>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

int main(int count, char** arguments) {
  const std::string_view mistake = count == 2 ? arguments[1] : "";
  // No compiler knows it: it is `count` and more.
  volatile int two = count;
  if (mistake == "out-of-bounds") return std::vector<int>(2).data()[two];
  if (mistake == "use-after-free") {
    auto number = std::make_unique<int>(two);
    const volatile int* const freed = number.get();
    number.reset();
    return *freed;
  }
  if (mistake == "overflow") return INT_MAX - 1 + two > 0 ? 0 : 1;
  if (mistake == "race") {
    int number = two;
    std::thread other([&number] { ++number; });
    ++number;
    other.join();
    return number > 0 ? 0 : 1;
  }
  std::puts("no such mistake");
  return 2;
}
