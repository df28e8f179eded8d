// PolledSource: requests that no descriptor announces.
#ifndef IBEMU_BASE_POLLED_SOURCE_H_
#define IBEMU_BASE_POLLED_SOURCE_H_

namespace ibemu {

// A PolledSource is something that the loop has to look at to learn that there
// is work: rings in memory that clients share.  All calls come on the loop
// thread.
class PolledSource {
 public:
  // Handles the requests that are there, some of them if there are many.
  // Returns false if there were none.
  virtual bool Look() = 0;

  // Called before the loop goes to sleep: from now on whoever makes a request
  // also wakes the loop by a descriptor.  Returns false if there is a request
  // already, and the loop must not sleep.
  virtual bool BeforeSleep() = 0;

  // Called when the loop is awake again, after each BeforeSleep().
  virtual void AfterSleep() = 0;

 protected:
  ~PolledSource() = default;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_POLLED_SOURCE_H_
