// GeneratorSpec: the parameters of a topology generator,
// "fat-tree:radix=36,levels=2".
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

// The size of the largest subnet that a generator makes, so that a typing
// mistake does not fill the machine's memory.
inline constexpr int64_t kMaxGeneratedNodes = int64_t{1} << 20;

// A parser that hands out the parameters of a spec one by one.  It remembers
// the first error: after it, parameters have their defaults, and status()
// returns it.
class GeneratorSpec {
 public:
  explicit GeneratorSpec(std::string_view spec);

  std::string_view name() const { return name_; }

  // Returns the parameter without a key, such as "4x4x4", or an empty string if
  // there is none.
  std::string_view Bare();

  // Returns a number in [low, high], or `fallback` if the spec does not have
  // it.  `remedy` ends the message about a number that is not in the range.
  int Number(std::string_view key, int low, int high, int fallback,
             std::string_view remedy = "");
  std::optional<int> OptionalNumber(std::string_view key, int low, int high,
                                    std::string_view remedy = "");

  // Returns the rate of the parameters "speed" and "width", which every
  // generator has.
  LinkRate Rate();

  // Records an error.  `what` is the rule that the spec breaks.
  void Fail(std::string_view what);

  // Ends the parsing: parameters that were not asked for are errors.
  //
  // Errors: InvalidArgument, naming the parameter, its value and the allowed
  // ones.
  absl::Status Finish();

  // The same, and also checks that the number of nodes is at most
  // kMaxGeneratedNodes.
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
