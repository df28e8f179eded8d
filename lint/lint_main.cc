// libibemu-lint.so: functions of libibverbs, and one of librdmacm, that
// programs of `ibemu run --lint` call instead.  Each calls the library's, and
// says on stderr what is a pitfall of ibemu(1).
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "lint/unacknowledged_events.h"

// Names of functions, which the header makes macros.
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

struct rdma_cm_id;  // of librdmacm

#define IBEMU_EXPORT extern "C" __attribute__((visibility("default")))

namespace ibemu::lint {
namespace {

// Microseconds, and how many times: whether another thread acknowledges.
constexpr useconds_t kPause = 10'000;
constexpr int kPauses = 100;
constexpr uint16_t kMaxKeys = 128;

constinit UnacknowledgedEvents events;
constinit std::atomic<int> regions = 0;
constinit std::atomic<bool> looked_at_keys = false;
// What this process was told of.
constinit std::atomic<bool> told_of_fork = false, told_of_events = false,
                            told_of_index = false;

// Returns true the first time.
bool IsFirst(std::atomic<bool>& told) { return !told.exchange(true); }

// A line in the form of those that `ibemu run` prints when a command has ended.
[[gnu::format(printf, 2, 3)]] void Say(const char* rule, const char* format,
                                       ...) {
  const char* const host = std::getenv("IBEMU_HOST");
  char line[512];
  int size =
      std::snprintf(line, sizeof line, "ibemu run: %s: %s process %d: ", rule,
                    host == nullptr ? "?" : host, getpid());
  va_list arguments;
  va_start(arguments, format);
  if (size > 0 && static_cast<size_t>(size) < sizeof line) {
    size += std::vsnprintf(line + size, sizeof line - static_cast<size_t>(size),
                           format, arguments);
  }
  va_end(arguments);
  if (size < 0) return;
  size_t length = static_cast<size_t>(size);
  if (length > sizeof line - 1) length = sizeof line - 1;
  line[length++] = '\n';  // in place of the zero
  const int before = errno;
  (void)!write(STDERR_FILENO, line, length);
  errno = before;
}

// Returns the function of that name in a library that is loaded, or in what it
// needs; null if there is none but ours.
void* FindIn(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  void* const found = dlsym(handle, name);
  dlclose(handle);
  Dl_info its = {}, ours = {};
  const bool is_ours = dladdr(found, &its) != 0 &&
                       dladdr(&events, &ours) != 0 &&
                       its.dli_fbase == ours.dli_fbase;
  return is_ours ? nullptr : found;
}

// The library's function, for somebody who calls ours.  Where it was loaded for
// somebody alone, as Python does it, it comes after nobody; and it may have
// another name.
template <class Function>
Function* Next(const char* name, const void* caller) {
  void* function = dlsym(RTLD_NEXT, name);
  if (function == nullptr) {
    const bool is_of_cm = std::strncmp(name, "rdma_", 5) == 0;
    function = FindIn(is_of_cm ? "librdmacm.so.1" : "libibverbs.so.1", name);
  }
  Dl_info its = {};
  if (function == nullptr && dladdr(caller, &its) != 0 &&
      its.dli_fname != nullptr) {
    function = FindIn(its.dli_fname, name);
  }
  return reinterpret_cast<Function*>(function);
}

// While the library registers memory by another function of its own.
thread_local bool registering = false;

// Not after vfork() or posix_spawn(), which copy no pages.
void AfterFork() {
  const int count = regions;
  if (count <= 0) return;
  auto* const state =
      Next<ibv_fork_status()>("ibv_is_fork_initialized", nullptr);
  if (state == nullptr || state() != IBV_FORK_DISABLED ||
      !IsFirst(told_of_fork)) {
    return;
  }
  Say("fork-after-registration",
      "it forked while %d %s of memory %s registered, without "
      "ibv_fork_init(): before Linux 5.12 the pages that it writes to then are "
      "no longer those that an adapter reads",
      count, count == 1 ? "region" : "regions", count == 1 ? "was" : "were");
}

// No adapter knows its pages.
void InChild() {
  regions = 0;
  events.ForgetAll();
  told_of_fork = told_of_events = told_of_index = false;
}

[[gnu::constructor]] void Begin() {
  pthread_atfork(nullptr, &AfterFork, &InChild);
}

// librdmacm has the index from the kernel, which has looked.
bool IsOfRdmaCm(const void* caller) {
  Dl_info library = {};
  return dladdr(caller, &library) != 0 && library.dli_fname != nullptr &&
         std::strstr(library.dli_fname, "librdmacm") != nullptr;
}

void CheckKeyIndex(ibv_qp& qp, const ibv_qp_attr& attributes, int mask,
                   const void* caller) {
  if ((mask & IBV_QP_PKEY_INDEX) == 0 || (mask & IBV_QP_PORT) == 0 ||
      attributes.pkey_index != 0 || looked_at_keys || IsOfRdmaCm(caller)) {
    return;
  }
  auto* const query =
      Next<int(ibv_context*, uint8_t, int, __be16*)>("ibv_query_pkey", caller);
  int keys = 0;
  for (int index = 0; index < kMaxKeys; ++index) {
    __be16 key = 0;
    if (query == nullptr ||
        query(qp.context, attributes.port_num, index, &key) != 0) {
      break;
    }
    if (key != 0) ++keys;
  }
  if (keys < 2 || !IsFirst(told_of_index)) return;
  Say("pkey-index-assumed",
      "a queue pair got P_Key index 0, one of %d at its port, and the program "
      "has not looked at the table: which key is where is up to the subnet "
      "manager",
      keys);
}

// Calls the library's function; `otherwise`: there is none.
template <class Result, class Function, class... Arguments>
Result Call(const void* caller, const char* name, Result otherwise,
            Arguments... arguments) {
  auto* const next = Next<Function>(name, caller);
  if (next == nullptr) {
    errno = ENOSYS;
    return otherwise;
  }
  return next(arguments...);
}

// The same of one that registers memory, perhaps by another one of them.
template <class Function, class... Arguments>
ibv_mr* Register(const void* caller, const char* name, Arguments... arguments) {
  const bool within = std::exchange(registering, true);
  ibv_mr* const region =
      Call<ibv_mr*, Function>(caller, name, nullptr, arguments...);
  registering = within;
  if (region != nullptr && !within) ++regions;
  return region;
}

}  // namespace
}  // namespace ibemu::lint

using namespace ibemu::lint;  // NOLINT(google-build-using-namespace)

#define IBEMU_CALLER __builtin_return_address(0)

IBEMU_EXPORT int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq,
                                  void** cq_context) {
  const int result = Call<int, decltype(ibv_get_cq_event)>(
      IBEMU_CALLER, "ibv_get_cq_event", -1, channel, cq, cq_context);
  if (result == 0) events.OnEvent(*cq);
  return result;
}

IBEMU_EXPORT void ibv_ack_cq_events(ibv_cq* cq, unsigned nevents) {
  events.OnAcknowledged(cq, nevents);
  if (auto* const next = Next<decltype(ibv_ack_cq_events)>("ibv_ack_cq_events",
                                                           IBEMU_CALLER)) {
    next(cq, nevents);
  }
}

IBEMU_EXPORT int ibv_destroy_cq(ibv_cq* cq) {
  for (int i = 0; i < kPauses && !told_of_events && events.Of(cq) != 0; ++i) {
    usleep(kPause);
  }
  const unsigned count = events.Of(cq);
  if (count != 0 && IsFirst(told_of_events)) {
    Say("events-not-acknowledged",
        "%u %s of a completion queue %s not acknowledged by "
        "ibv_ack_cq_events(): ibv_destroy_cq() waits for that",
        count, count == 1 ? "event" : "events", count == 1 ? "was" : "were");
  }
  return Call<int, decltype(ibv_destroy_cq)>(IBEMU_CALLER, "ibv_destroy_cq",
                                             ENOSYS, cq);
}

IBEMU_EXPORT ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, size_t length,
                                int access) {
  return Register<decltype(ibv_reg_mr)>(IBEMU_CALLER, "ibv_reg_mr", pd, addr,
                                        length, access);
}

IBEMU_EXPORT ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, size_t length,
                                     uint64_t iova, int access) {
  return Register<decltype(ibv_reg_mr_iova)>(IBEMU_CALLER, "ibv_reg_mr_iova",
                                             pd, addr, length, iova, access);
}

IBEMU_EXPORT ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, size_t length,
                                      uint64_t iova, unsigned access) {
  return Register<decltype(ibv_reg_mr_iova2)>(IBEMU_CALLER, "ibv_reg_mr_iova2",
                                              pd, addr, length, iova, access);
}

IBEMU_EXPORT int ibv_dereg_mr(ibv_mr* mr) {
  const int result = Call<int, decltype(ibv_dereg_mr)>(
      IBEMU_CALLER, "ibv_dereg_mr", ENOSYS, mr);
  if (result == 0) --regions;
  return result;
}

IBEMU_EXPORT int ibv_query_pkey(ibv_context* context, uint8_t port_num,
                                int index, __be16* pkey) {
  looked_at_keys = true;
  return Call<int, decltype(ibv_query_pkey)>(IBEMU_CALLER, "ibv_query_pkey", -1,
                                             context, port_num, index, pkey);
}

IBEMU_EXPORT int ibv_get_pkey_index(ibv_context* context, uint8_t port_num,
                                    __be16 pkey) {
  looked_at_keys = true;
  return Call<int, decltype(ibv_get_pkey_index)>(
      IBEMU_CALLER, "ibv_get_pkey_index", -1, context, port_num, pkey);
}

// The kernel has looked the index up that this gives.
IBEMU_EXPORT int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* qp_attr,
                                   int* qp_attr_mask) {
  looked_at_keys = true;
  return Call<int, decltype(rdma_init_qp_attr)>(
      IBEMU_CALLER, "rdma_init_qp_attr", -1, id, qp_attr, qp_attr_mask);
}

IBEMU_EXPORT int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  const int result = Call<int, decltype(ibv_modify_qp)>(
      IBEMU_CALLER, "ibv_modify_qp", ENOSYS, qp, attr, attr_mask);
  if (result == 0) CheckKeyIndex(*qp, *attr, attr_mask, IBEMU_CALLER);
  return result;
}
