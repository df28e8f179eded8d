// raw_uverbs WAY NODE: asks a uverbs node for descriptors and looks at what it
// gets, and at itself.  See main() for the ways.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/ib_user_verbs.h>

static const char *node;

static void fail(const char *what) {
  printf("%s: %s\n", what, errno != 0 ? strerror(errno) : "not as it should be");
  exit(1);
}

struct command {
  struct ib_uverbs_cmd_hdr header;
  uint64_t response;
};

// The descriptor that comes with the answer, or -1 and errno.
static int get_context(int file) {
  struct ib_uverbs_get_context_resp response = {.async_fd = 12345};
  const struct command command = {
      {IB_USER_VERBS_CMD_GET_CONTEXT, sizeof command / 4, sizeof response / 4},
      (uintptr_t)&response};
  if (write(file, &command, sizeof command) != sizeof command) return -1;
  return (int)response.async_fd;
}

static int create_channel(int file) {
  struct ib_uverbs_create_comp_channel_resp response = {12345};
  const struct command command = {
      {IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, sizeof command / 4,
       sizeof response / 4},
      (uintptr_t)&response};
  if (write(file, &command, sizeof command) != sizeof command) return -1;
  return (int)response.fd;
}

static int open_node(void) {
  const int file = open(node, O_RDWR | O_CLOEXEC);
  if (file < 0) fail(node);
  return file;
}

// It is an event file of our device, which waits for events.
static void check_events(int events) {
  struct stat ours, theirs;
  errno = 0;
  if (stat(node, &ours) != 0 || fstat(events, &theirs) != 0 ||
      ours.st_rdev != theirs.st_rdev) {
    fail("the number of the device");
  }
  if (fcntl(events, F_GETFD) != FD_CLOEXEC) fail("close-on-exec");
  if ((fcntl(events, F_GETFL) & (O_ACCMODE | O_NONBLOCK)) != O_RDONLY) {
    fail("the flags");
  }
  struct pollfd poller = {events, POLLIN, 0};
  if (poll(&poller, 1, 0) != 0) fail("poll");
  char event[16];
  if (fcntl(events, F_SETFL, O_NONBLOCK) != 0 ||
      read(events, event, sizeof event) != -1 || errno != EAGAIN) {
    fail("read");
  }
  errno = 0;
}

#define STACK 8192
#define FILL 0xa5
static uint8_t stack[STACK] __attribute__((aligned(64)));

// GET_CONTEXT on a stack of its own, where not a byte changes, with every
// register holding something.
static void check_self(void) {
  const int file = open_node();
  struct ib_uverbs_get_context_resp response = {.async_fd = 12345};
  const struct command command = {
      {IB_USER_VERBS_CMD_GET_CONTEXT, sizeof command / 4, sizeof response / 4},
      (uintptr_t)&response};
  sigset_t mask, after;
  sigemptyset(&mask);
  sigaddset(&mask, SIGUSR1);
  sigprocmask(SIG_SETMASK, &mask, NULL);
  memset(stack, FILL, sizeof stack);

  uint64_t top = (uintptr_t)(stack + STACK / 2);
  int64_t result = SYS_write;
  uint64_t rdi = (uint64_t)file, rsi = (uintptr_t)&command;
  uint64_t rdx = sizeof command;
  register uint64_t r8 __asm__("r8") = 8;
  register uint64_t r9 __asm__("r9") = 9;
  register uint64_t r10 __asm__("r10") = 10;
  register uint64_t r12 __asm__("r12") = 12;
  register uint64_t r13 __asm__("r13") = 13;
  register uint64_t r14 __asm__("r14") = 14;
  register uint64_t r15 __asm__("r15") = 15;
  __asm__ volatile(
      "xchg %%rsp, %[top]\n"
      "syscall\n"
      "xchg %%rsp, %[top]\n"
      : "+a"(result), "+D"(rdi), "+S"(rsi), "+d"(rdx), [top] "+b"(top),
        "+r"(r8), "+r"(r9), "+r"(r10), "+r"(r12), "+r"(r13), "+r"(r14),
        "+r"(r15)
      :
      : "rcx", "r11", "memory");
  // Before any call may use them.
  const int kept = rdi == (uint64_t)file && rsi == (uintptr_t)&command &&
                   rdx == sizeof command &&
                   top == (uintptr_t)(stack + STACK / 2) && r8 == 8 &&
                   r9 == 9 && r10 == 10 && r12 == 12 && r13 == 13 &&
                   r14 == 14 && r15 == 15;
  errno = result < 0 ? (int)-result : 0;
  if (result < 0) fail("GET_CONTEXT");
  if (result != (int64_t)sizeof command) fail("what write() returned");
  if (!kept) fail("the registers");
  for (int i = 0; i < STACK; ++i) {
    if (stack[i] != FILL) fail("the stack");
  }
  sigprocmask(SIG_SETMASK, NULL, &after);
  if (sigismember(&after, SIGUSR1) != 1 || sigismember(&after, SIGUSR2) != 0) {
    fail("the signal mask");
  }
  const int events = (int)response.async_fd;
  check_events(events);
  const int channel = create_channel(file);
  if (channel < 0) fail("CREATE_COMP_CHANNEL");
  check_events(channel);
  // The next free ones, and no other was taken.
  errno = 0;
  if (events != file + 1 || channel != file + 2 || dup(file) != file + 3) {
    fail("the numbers");
  }
}

// Each thread for itself: channels that are its own.
static void *ask(void *unused) {
  (void)unused;
  enum { ROUNDS = 5, CHANNELS = 5 };
  for (int round = 0; round < ROUNDS; ++round) {
    int files[CHANNELS + 2];
    files[0] = open_node();
    files[1] = get_context(files[0]);
    if (files[1] < 0) fail("GET_CONTEXT");
    for (int i = 2; i < CHANNELS + 2; ++i) {
      files[i] = create_channel(files[0]);
      if (files[i] < 0) fail("CREATE_COMP_CHANNEL");
    }
    for (int i = 1; i < CHANNELS + 2; ++i) check_events(files[i]);
    for (int i = 0; i < CHANNELS + 2; ++i) {
      // EBADF: another thread had the same.
      if (close(files[i]) != 0) fail("close");
    }
  }
  return NULL;
}

static void in_threads(void *(*work)(void *)) {
  enum { THREADS = 4 };
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    if (pthread_create(&threads[i], NULL, work, NULL) != 0) fail("a thread");
  }
  for (int i = 0; i < THREADS; ++i) pthread_join(threads[i], NULL);
}

static void *ask_for_ever(void *unused) {
  while (1) ask(unused);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3) return 2;
  const char *way = argv[1];
  node = argv[2];
  if (strcmp(way, "once") == 0) {
    check_self();
    puts("as it should be");
  } else if (strcmp(way, "many") == 0) {
    in_threads(ask);
  } else if (strcmp(way, "endless") == 0) {
    puts("begins");
    fflush(stdout);
    in_threads(ask_for_ever);
  } else if (strcmp(way, "full") == 0) {
    const int file = open_node();
    const struct rlimit limit = {(rlim_t)file + 1, (rlim_t)file + 1};
    setrlimit(RLIMIT_NOFILE, &limit);
    errno = 0;
    if (get_context(file) < 0) printf("GET_CONTEXT: %s\n", strerror(errno));
  }
  return 0;
}
