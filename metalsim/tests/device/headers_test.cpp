// Every message that our headers send is answered by the class it goes to.
#include <objc/runtime.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "host.h"

namespace {

std::string read(const std::filesystem::path& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

struct Message {
  std::string cls;
  std::string selector;
  bool to_class;
};

/// The messages in the order of the text: the class is the one whose definition began last.
std::vector<Message> messages_of(const std::string& source, const std::string& prefix) {
  static const std::regex token(
      R"re(class (\w+) : public|send<[^;{}]*?, "([A-Za-z:0-9]+)">\(\s*([\w:<>"]+))re");
  std::vector<Message> found;
  std::string cls;
  for (std::sregex_iterator it(source.begin(), source.end(), token), end; it != end; ++it) {
    if ((*it)[1].matched)
      cls = prefix + it->str(1);
    else
      found.push_back({cls, it->str(2), it->str(3).find("class_named") != std::string::npos});
  }
  return found;
}

}  // namespace

TEST_CASE("every message of the headers is answered") {
  size_t count = 0;
  // Helpers for all classes, and classes that only base others.
  const std::set<std::string> not_classes = {"NSReferencing", "NSCopying",     "NSFastEnumeration",
                                             "MTLCounter",    "MTLCounterSet", "MTLCounterSampleBuffer"};
  for (const auto& [folder, prefix] : {std::pair{"Foundation", "NS"}, std::pair{"Metal", "MTL"}}) {
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(METALSIM_APPLE_HEADERS) / folder)) {
      for (const Message& message : messages_of(read(entry.path()), prefix)) {
        if (message.cls.empty() || not_classes.count(message.cls)) continue;
        INFO(message.cls, " ", message.selector);
        ++count;
        Class cls = objc_lookUpClass(message.cls.c_str());
        REQUIRE(cls);
        if (message.to_class) cls = object_getClass(reinterpret_cast<id>(cls));
        CHECK(class_respondsToSelector(cls, sel_registerName(message.selector.c_str())));
      }
    }
  }
  CHECK(count > 300);
}

TEST_CASE("classes and selectors have names, and superclasses") {
  const Class buffer = objc_lookUpClass("MTLBuffer");
  CHECK(std::string(class_getName(buffer)) == "MTLBuffer");
  CHECK(std::string(class_getName(class_getSuperclass(buffer))) == "MTLResource");
  CHECK(objc_lookUpClass("MTLTexture") == nullptr);
  CHECK(sel_registerName("length") == sel_registerName("length"));
  CHECK(std::string(sel_getName(sel_registerName("length"))) == "length");
  Host host;
  CHECK(std::string(object_getClassName(reinterpret_cast<id>(host.queue.get()))) == "MTLCommandQueue");
}
