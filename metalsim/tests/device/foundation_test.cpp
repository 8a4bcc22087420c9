// Foundation's classes, reference counts and pools.
#include "host.h"

TEST_CASE("strings hold text, compare, and count UTF-16 units") {
  Host host;
  const NS::String* a = text("caf\xC3\xA9 \xF0\x9F\x98\x80");  // é is one unit, the face two
  CHECK(a->length() == 7);
  CHECK(a->lengthOfBytes(NS::UTF8StringEncoding) == 10);
  CHECK(a->character(3) == 0xE9);
  CHECK(std::string(a->utf8String()) == "caf\xC3\xA9 \xF0\x9F\x98\x80");
  CHECK(text("abc")->isEqualToString(text("abc")));
  CHECK(text("abc")->isEqual(text("abc")));
  CHECK_FALSE(text("abc")->isEqual(text("abd")));
  CHECK(text("abc")->hash() == text("abc")->hash());
  CHECK(std::string(text("ab")->stringByAppendingString(text("cd"))->utf8String()) == "abcd");
  CHECK(text("x")->caseInsensitiveCompare(text("X")) == NS::OrderedSame);
  CHECK(text("a")->caseInsensitiveCompare(text("B")) == NS::OrderedAscending);
  const NS::Range found = text("hello world")->rangeOfString(text("WORLD"), NS::CaseInsensitiveSearch);
  CHECK(found.location == 6);
  CHECK(found.length == 5);
  CHECK(text("hello")->rangeOfString(text("z"), NS::LiteralSearch).location ==
        static_cast<NS::UInteger>(NS::NotFound));
  CHECK(MTLSTR("one") == MTLSTR("one"));
  CHECK(MTLSTR("one") != MTLSTR("two"));
}

TEST_CASE("strings made by alloc, with bytes and an encoding") {
  Host host;
  char bytes[] = {'m', 'e', 't', 'a', 'l'};
  const auto s = NS::TransferPtr(NS::String::alloc()->init(bytes, 3, NS::UTF8StringEncoding, false));
  CHECK(std::string(s->utf8String()) == "met");
  CHECK_MISUSE(NS::String::string("x", static_cast<NS::StringEncoding>(10)), "UTF-8");
}

TEST_CASE("numbers keep their value in every type") {
  Host host;
  CHECK(NS::Number::number(-5)->intValue() == -5);
  CHECK(NS::Number::number(-5)->longLongValue() == -5);
  CHECK(NS::Number::number(3.5f)->floatValue() == 3.5f);
  CHECK(NS::Number::number(3.25)->doubleValue() == 3.25);
  CHECK(NS::Number::number(true)->boolValue());
  CHECK(NS::Number::number(~0ull)->unsignedLongLongValue() == ~0ull);
  CHECK(NS::Number::number(-1)->compare(NS::Number::number(1u)) == NS::OrderedAscending);
  CHECK(NS::Number::number(2)->isEqualToNumber(NS::Number::number(2.0)));
  CHECK(std::string(NS::Number::number(42)->stringValue()->utf8String()) == "42");
}

TEST_CASE("arrays and dictionaries keep their objects alive") {
  Host host;
  auto one = NS::TransferPtr(NS::String::alloc()->init("one", NS::UTF8StringEncoding));
  const NS::Object* objects[] = {one.get(), text("two")};
  const auto array = NS::RetainPtr(NS::Array::array(objects, 2));
  CHECK(one->retainCount() == 2);
  NS::String* const raw = one.get();
  one.reset();
  CHECK(array->count() == 2);
  CHECK(array->object<NS::String>(0) == raw);
  CHECK(std::string(array->object<NS::String>(0)->utf8String()) == "one");
  NS::Enumerator<NS::Object>* const each = array->objectEnumerator();
  CHECK(each->nextObject() == raw);
  CHECK(each->nextObject() != nullptr);
  CHECK(each->nextObject() == nullptr);
  CHECK_MISUSE(array->object(2), "object(2)");

  const NS::Object* keys[] = {text("a"), text("b")};
  NS::Dictionary* const dictionary = NS::Dictionary::dictionary(objects + 1, keys, 1);
  CHECK(dictionary->count() == 1);
  CHECK(dictionary->object<NS::String>(text("a"))->isEqualToString(text("two")));
  CHECK(dictionary->object(text("b")) == nullptr);
}

TEST_CASE("errors have domain, code and texts") {
  Host host;
  NS::Error* const error =
      NS::Error::error(const_cast<NS::String*>(text("domain")), 7,
                       NS::Dictionary::dictionary(text("it broke"), text("NSLocalizedDescription")));
  CHECK(error->code() == 7);
  CHECK(error->domain()->isEqualToString(text("domain")));
  CHECK(error->localizedDescription()->isEqualToString(text("it broke")));
  CHECK(error->localizedRecoverySuggestion() == nullptr);
  CHECK(contains(
      NS::Error::error(const_cast<NS::String*>(text("d")), 1, nullptr)->localizedDescription()->utf8String(),
      "d error 1"));
}

TEST_CASE("URLs, bundles and the process") {
  Host host;
  CHECK(std::string(NS::URL::fileURLWithPath(text("/a/b"))->fileSystemRepresentation()) == "/a/b");
  const auto url = NS::TransferPtr(NS::URL::alloc()->init(text("file:///c/d")));
  CHECK(std::string(url->fileSystemRepresentation()) == "/c/d");
  CHECK_MISUSE(NS::URL::alloc()->init(text("http://x")), "only file URLs");
  CHECK(NS::Bundle::mainBundle()->bundlePath()->length() > 0);
  const NS::ProcessInfo* const process = NS::ProcessInfo::processInfo();
  CHECK(process->processorCount() > 0);
  CHECK(process->systemUptime() > 0);  // a double: the floating-point entry of objc_msgSend
  CHECK(process->operatingSystemVersion().majorVersion >=
        13);  // a structure of 24 bytes: the entry for those
  CHECK(process->isOperatingSystemAtLeastVersion(NS::OperatingSystemVersion{13, 0, 0}));
  CHECK_FALSE(process->isOperatingSystemAtLeastVersion(NS::OperatingSystemVersion{99, 0, 0}));
  CHECK(process->arguments()->count() >= 1);
}

TEST_CASE("a message to null answers zero") {
  const NS::String* const none = nullptr;
  CHECK(NS::Private::send<NS::UInteger, "length">(none) == 0);
  CHECK(NS::Private::send<double, "systemUptime">(none) == 0.0);
}

TEST_CASE("reference counts: retain, release, autorelease, shared pointers") {
  Host host;
  const size_t alive = metalsim::live_objects().size();
  {
    auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
    Ptr<NS::String> kept;
    {
      auto s = NS::TransferPtr(NS::String::alloc()->init("s", NS::UTF8StringEncoding));
      CHECK(s->retainCount() == 1);
      kept = s;
      CHECK(s->retainCount() == 2);
      Ptr<NS::Object> base = std::move(s);  // to a base class
      CHECK(base->retainCount() == 2);
      CHECK_FALSE(s);
    }
    CHECK(kept->retainCount() == 1);
    CHECK(kept->copy() == kept.get());  // immutable: the copy is the same object
    kept->autorelease();                // the reference of copy() goes with the pool
    CHECK(kept->retainCount() == 2);
    inner.reset();
    CHECK(kept->retainCount() == 1);
  }
  CHECK(metalsim::live_objects().size() == alive);
  CHECK(take_reports().empty());
}

TEST_CASE("pools nest, and draining the outer one drains the inner") {
  QuietReports quiet;
  const size_t alive = metalsim::live_objects().size();
  auto* const outer = NS::AutoreleasePool::alloc()->init();
  text("in the outer pool");
  NS::AutoreleasePool::alloc()->init();  // forgotten: goes with the outer one's drain, but leaks itself
  text("in the inner pool");
  CHECK(metalsim::live_objects().size() == alive + 4);
  outer->drain();
  CHECK(metalsim::live_objects().size() == alive + 1);
}

TEST_CASE("no autorelease pool is reported, with the class that leaks") {
  QuietReports quiet;
  NS::String* leaked = nullptr;
  CHECK_MISUSE(leaked = NS::String::string("x", NS::UTF8StringEncoding), "no autorelease pool: NSString");
  leaked->release();
}

TEST_CASE("an over-release is reported, directly and when a pool drains") {
  Host host;
  auto* const s = NS::String::alloc()->init("s", NS::UTF8StringEncoding);
  s->release();
  CHECK_MISUSE(s->release(), "over-release: NSString");
  auto inner = NS::TransferPtr(NS::AutoreleasePool::alloc()->init());
  auto* const autoreleased = NS::String::string("t", NS::UTF8StringEncoding);
  autoreleased->release();  // the pool's reference, not ours
  CHECK_MISUSE(inner.reset(), "over-release: NSString");
}

TEST_CASE("use of a released object is reported with the message and what the object was") {
  Host host;
  MTL::Buffer* buffer = host.device->newBuffer(64, MTL::ResourceStorageModeShared);
  buffer->setLabel(text("weights"));
  buffer->release();
  CHECK_MISUSE(CHECK(buffer->length() == 0), "\"length\" is sent to MTLBuffer \"weights\"");
}

TEST_CASE("leaked objects are listed with class and label") {
  Host host;
  const auto buffer = host.buffer(64);
  buffer->setLabel(text("leaky"));
  bool found = false;
  for (const std::string& name : metalsim::live_objects())
    found = found || contains(name, "MTLBuffer \"leaky\"");
  CHECK(found);
}
