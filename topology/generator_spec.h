// The words of a generator's spec: "fat-tree:radix=36,levels=2".
#ifndef IBEMU_TOPOLOGY_GENERATOR_SPEC_H_
#define IBEMU_TOPOLOGY_GENERATOR_SPEC_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Largest subnet that a generator makes: a typing mistake shall not fill the
// machine's memory.
inline constexpr int64_t kMaxGeneratedNodes = int64_t{1} << 20;

// Takes a spec apart and hands its parameters out one by one.  The first
// fault sticks: what follows it returns defaults, and status() tells it.
class GeneratorSpec {
 public:
  explicit GeneratorSpec(std::string_view spec);

  std::string_view name() const { return name_; }

  // The parameter that has no key: "4x4x4".  Empty if there is none.
  std::string_view Bare();

  // A number in [low, high]; `fallback` if the spec does not have it.
  int Number(std::string_view key, int low, int high, int fallback);
  std::optional<int> OptionalNumber(std::string_view key, int low, int high);

  // Parameters "speed" and "width", which every generator knows.
  LinkRate Rate();

  // `what` is the rule that the spec breaks.
  void Fail(std::string_view what);

  // Call when every known parameter was asked for: others are errors.
  //
  // Errors: InvalidArgument, naming parameter, value and what is allowed.
  absl::Status Finish();

  // Likewise, if what it asks for is not too large.
  absl::Status FinishWith(int64_t nodes);

  const absl::Status& status() const { return status_; }

 private:
  struct Parameter {
    std::string_view key, value;
    bool used = false;
  };

  Parameter* Take(std::string_view key);

  std::string_view spec_, name_;
  std::vector<Parameter> parameters_;
  std::vector<std::string_view> known_;  // keys that were asked for
  absl::Status status_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_GENERATOR_SPEC_H_
