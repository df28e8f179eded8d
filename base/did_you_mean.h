// Suggestions for mistyped names: `: did you mean "sw1"?`.
#ifndef IBEMU_BASE_DID_YOU_MEAN_H_
#define IBEMU_BASE_DID_YOU_MEAN_H_

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ibemu {

// A DidYouMean finds, among the names offered to it, the one closest to a
// mistyped name.  A name is close if, ignoring case, the mistyped name becomes
// it when at most a third of its characters (but at least one) are inserted,
// deleted, replaced or swapped with their neighbour.
class DidYouMean {
 public:
  explicit DidYouMean(std::string_view wrong);
  DidYouMean(std::string_view wrong,
             std::initializer_list<std::string_view> names);

  // Considers `name`, which must outlive this object.  Among equally close
  // names the first one wins.
  void Offer(std::string_view name);

  // Returns the closest name, or an empty text when none is close.
  std::string_view best() const { return best_; }

  // Returns the end of an error message, `: did you mean "sw1"?`, or an empty
  // text when no name is close.
  std::string Question() const;

 private:
  std::string wrong_;
  std::string_view best_;
  size_t limit_;  // the largest distance that still counts
};

}  // namespace ibemu

#endif  // IBEMU_BASE_DID_YOU_MEAN_H_
