// Suggestions for mistyped names: `: did you mean "sw1"?`.
#ifndef IBEMU_BASE_DID_YOU_MEAN_H_
#define IBEMU_BASE_DID_YOU_MEAN_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ibemu {

// Finds, among the names offered to it, the one closest to a wrong one:
// letter case aside, at most a third of its characters inserted, deleted,
// replaced or swapped with their neighbour.
class DidYouMean {
 public:
  explicit DidYouMean(std::string_view wrong);
  DidYouMean(std::string_view wrong,
             std::initializer_list<std::string_view> names);

  // `name` must outlive this object.  Of equally close names the first wins.
  void Offer(std::string_view name);

  // Empty when nothing offered is close.
  std::string_view best() const { return best_; }

  // The end of an error message, `: did you mean "sw1"?`, or nothing.
  std::string Question() const;

 private:
  std::string wrong_;
  std::string_view best_;
  size_t limit_;  // names farther away than this do not count
};

}  // namespace ibemu

#endif  // IBEMU_BASE_DID_YOU_MEAN_H_
