// Requests to the web server as they come from anybody on this machine: in
// whichever parts they come, the same is read of them, and never too much.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "daemon/web/http/request_reader.h"

namespace {

using ibemu::daemon::RequestReader;

void Check(bool holds) {
  if (!holds) std::abort();
}

void CheckBounds(const RequestReader& reader) {
  Check(reader.text().size() <=
        RequestReader::kMaxHead + RequestReader::kMaxBody);
  const bool refused = reader.state() == RequestReader::State::kRefused;
  Check(refused == (reader.status() != 0));
  Check(!refused || reader.text().empty());
  Check(reader.Target().size() <= reader.text().size());
}

}  // namespace

// The first byte says in which parts the rest comes.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const size_t part = data[0] + size_t{1};
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  RequestReader whole;
  whole.Add(rest);
  CheckBounds(whole);
  RequestReader parts;
  while (!rest.empty()) {
    parts.Add(rest.substr(0, part));
    CheckBounds(parts);
    rest.remove_prefix(std::min(part, rest.size()));
  }
  Check(parts.state() == whole.state());
  Check(parts.status() == whole.status());
  Check(parts.text() == whole.text());
  return 0;
}
