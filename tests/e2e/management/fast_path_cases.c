// What a program sees of umadN that could differ where its calls go through
// rings: threads, signals, cancelled threads, forks, descriptors that come and
// go.  One line a case, which has to be the same with and without the library.
//
//   fast_path_cases COUNT      the cases, after COUNT round trips each
//   fast_path_cases COUNT -    COUNT round trips, then waits for its end
//   fast_path_cases COUNT +    round trips for ever, and a line after each COUNT
//   fast_path_cases COUNT .    as -, but asks again and again
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_mad.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kSize = sizeof(struct ib_user_mad) + 256, kPatience = 120000 };

struct message {
  _Alignas(8) char bytes[kSize];
};

static int round_trips;
static uint32_t last_tid;

static void fail(const char *what) {
  printf("%s: %s\n", what, strerror(errno));
  exit(1);
}

// A directed-route Get(NodeInfo) that crosses the cable.
static uint32_t fill(struct message *message, uint32_t agent) {
  struct ib_user_mad *umad = (struct ib_user_mad *)message->bytes;
  uint8_t *mad = (uint8_t *)umad->data;
  memset(message, 0, sizeof *message);
  umad->hdr.id = agent;
  umad->hdr.timeout_ms = 60000;
  umad->hdr.lid = 0xffff;
  mad[0] = 1;
  mad[1] = 0x81;
  mad[2] = 1;
  mad[3] = 1;
  mad[7] = 1;  // one hop
  uint32_t tid = ++last_tid;
  memcpy(mad + 12, &tid, sizeof tid);
  mad[17] = 0x11;
  memset(mad + 32, 0xff, 4);
  mad[129] = 1;  // out of port 1
  return tid;
}

static uint32_t tid_of(const struct message *message) {
  const struct ib_user_mad *umad = (const struct ib_user_mad *)message->bytes;
  uint32_t tid;
  memcpy(&tid, (const uint8_t *)umad->data + 12, sizeof tid);
  return tid;
}

static int open_umad(int flags, uint32_t *agent) {
  int fd = open("/dev/infiniband/umad0", O_RDWR | flags);
  if (fd < 0) fail("open");
  struct ib_user_mad_reg_req registration = {
      .qpn = 0, .mgmt_class = 0x81, .mgmt_class_version = 1};
  if (ioctl(fd, IB_USER_MAD_ENABLE_PKEY, 0)) fail("ENABLE_PKEY");
  if (ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &registration)) fail("register");
  *agent = registration.id;
  return fd;
}

static int wait_for(int fd, int patience) {
  static struct pollfd ready;
  ready = (struct pollfd){.fd = fd, .events = POLLIN};
  return poll(&ready, 1, patience);
}

// Returns 0 if the answer is that of the question.
static int round_trip(int fd, uint32_t agent, struct message *message) {
  uint32_t tid = fill(message, agent);
  if (write(fd, message, kSize) != kSize) return 1;
  if (wait_for(fd, kPatience) != 1) return 2;
  memset(message, 0, sizeof *message);
  if (read(fd, message, kSize) != kSize) return 3;
  return tid_of(message) == tid ? 0 : 4;
}

static struct message shared_message;

// A file whose calls have taken the rings, if they can.
static int warm(int flags, uint32_t *agent) {
  int fd = open_umad(flags, agent);
  for (int i = 0; i < round_trips; ++i) {
    int fault = round_trip(fd, *agent, &shared_message);
    if (fault != 0) {
      printf("round trip %d failed at %d: %s\n", i, fault, strerror(errno));
      exit(1);
    }
  }
  return fd;
}

static const char *result(long value) {
  static char texts[4][64];
  static int next;
  char *text = texts[next++ % 4];
  if (value < 0) {
    snprintf(text, 64, "%s", strerrorname_np(errno));
  } else {
    snprintf(text, 64, "%ld", value);
  }
  return text;
}

static void handle(int number) { (void)number; }

static void alarm_in_poll(int flags, const char *name) {
  uint32_t agent;
  int fd = warm(0, &agent);
  struct sigaction action = {.sa_handler = handle, .sa_flags = flags};
  sigaction(SIGALRM, &action, NULL);
  struct itimerval soon = {.it_value = {0, 100000}};
  setitimer(ITIMER_REAL, &soon, NULL);
  printf("%s: %s\n", name, result(wait_for(fd, -1)));
  close(fd);
}

static void empty(void) {
  uint32_t agent;
  int fd = warm(O_NONBLOCK, &agent);
  printf("empty: poll %s", result(wait_for(fd, 0)));
  printf(", after 20 ms %s", result(wait_for(fd, 20)));
  printf(", read %s", result(read(fd, &shared_message, kSize)));
  printf(", short read %s\n", result(read(fd, &shared_message, 63)));
  close(fd);
}

static void short_read(void) {
  uint32_t agent;
  int fd = warm(O_NONBLOCK, &agent);
  fill(&shared_message, agent);
  if (write(fd, &shared_message, kSize) != kSize) fail("write");
  wait_for(fd, kPatience);
  printf("short: %s", result(read(fd, &shared_message, kSize - 1)));
  printf(", %s", result(read(fd, &shared_message, kSize)));
  printf(", %s\n", result(read(fd, &shared_message, kSize)));
  close(fd);
}

static void bad_pointers(void) {
  uint32_t agent;
  int fd = warm(O_NONBLOCK, &agent);
  char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(page + 4096, 4096);
  void *volatile bad = (void *)8;
  struct message *half = (struct message *)(page + 4096 - 160);
  printf("bad: write %s", result(write(fd, bad, kSize)));
  printf(", half %s", result(write(fd, half, kSize)));
  printf(", poll %s", result(poll(bad, 1, 0)));
#ifndef __SANITIZE_ADDRESS__  // which looks at such a buffer itself
  bad = (void *)-1;           // beyond it there is no address
#endif
  printf(", last poll %s", result(poll(bad, 1, 0)));
  printf(", write %s", result(write(fd, bad, kSize)));
  fill(&shared_message, agent);
  if (write(fd, &shared_message, kSize) != kSize) fail("write");
  wait_for(fd, kPatience);
  printf(", read %s", result(read(fd, bad, kSize)));
  bad = (void *)8;
  printf(", first %s", result(read(fd, bad, kSize)));
  printf(", half %s", result(read(fd, half, kSize)));
  printf(", again %s\n", result(read(fd, &shared_message, kSize)));
  close(fd);
}

static void duplicates(void) {
  uint32_t agent;
  int fd = warm(O_NONBLOCK, &agent);
  fill(&shared_message, agent);
  struct ib_user_mad *umad = (struct ib_user_mad *)shared_message.bytes;
  ((uint8_t *)umad->data)[129] = 9;  // no such port: EINVAL
  printf("refused: %s", result(write(fd, &shared_message, kSize)));
  umad->hdr.id = agent + 1;
  printf(", %s", result(write(fd, &shared_message, kSize)));
  umad->hdr.id = 99;
  printf(", %s\n", result(write(fd, &shared_message, kSize)));
  close(fd);
}

static void other_ways(void) {
  uint32_t agent;
  int fd = warm(O_NONBLOCK, &agent);
  int twin = dup(fd);
  uint32_t first = fill(&shared_message, agent);
  if (write(fd, &shared_message, kSize) != kSize) fail("write");
  uint32_t second = fill(&shared_message, agent);
  if (write(twin, &shared_message, kSize) != kSize) fail("write");
  int queue = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(queue, EPOLL_CTL_ADD, fd, &event);
  printf("other ways: epoll %s", result(epoll_wait(queue, &event, 1, kPatience)));
  wait_for(twin, kPatience);
  int got = 0;
  struct iovec vector = {&shared_message, kSize};
  while (got < 2) {
    if (wait_for(got == 0 ? twin : fd, kPatience) != 1) fail("poll");
    long size = got == 0 ? readv(twin, &vector, 1) : read(fd, &shared_message, kSize);
    uint32_t tid = tid_of(&shared_message);
    printf(", %s %s", result(size),
           tid == first ? "first" : tid == second ? "second" : "other");
    ++got;
  }
  close(twin);
  printf(", then %d\n", round_trip(fd, agent, &shared_message));
  close(fd);
  close(queue);
}

static void numbers_again(void) {
  uint32_t agent;
  int fd = warm(0, &agent);
  int null = open("/dev/null", O_RDWR);
  dup2(null, fd);
  printf("numbers: over it %s", result(write(fd, &shared_message, kSize)));
  close(fd);
  fd = warm(0, &agent);
  close(fd);
  int again = dup(null);
  printf(", after it %s %s", again == fd ? "same" : "other",
         result(write(again, &shared_message, kSize)));
  close(again);
  fd = warm(0, &agent);
  close_range((unsigned)fd, (unsigned)fd, 0);
  printf(", range %s", result(write(fd, &shared_message, kSize)));
  fd = warm(O_NONBLOCK, &agent);
  int twin = dup(fd);  // the file stays open
  fill(&shared_message, agent);
  if (write(fd, &shared_message, kSize) != kSize) fail("write");
  wait_for(fd, kPatience);
  fclose(fdopen(fd, "r+"));
  again = dup(null);
  printf(", after fclose %s %s", again == fd ? "same" : "other",
         result(read(again, &shared_message, kSize)));
  printf(", twin %s\n", result(read(twin, &shared_message, kSize)));
  close(twin);
  close(again);
  close(null);
}

static void forked(void) {
  uint32_t agent;
  int fd = warm(0, &agent);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) _exit(round_trip(fd, agent, &shared_message));
  int status;
  waitpid(child, &status, 0);
  printf("forked: child %d", WEXITSTATUS(status));
  printf(", parent %d", round_trip(fd, agent, &shared_message));
  fflush(stdout);
  child = vfork();
  if (child == 0) {
    close(fd);
    _exit(0);
  }
  waitpid(child, &status, 0);
  printf(", after vfork %d\n", round_trip(fd, agent, &shared_message));
  close(fd);
}

static void *receive_for_ever(void *argument) {
  static struct message message;
  int fd = *(int *)argument;
  while (1) {
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    if (poll(&ready, 1, -1) == 1) {
      ssize_t size = read(fd, &message, kSize);
      (void)size;
    }
  }
  return NULL;
}

// opensm ends its receiver so.
static void cancelled(void) {
  uint32_t agent;
  int fd = warm(0, &agent);
  pthread_t receiver;
  pthread_create(&receiver, NULL, receive_for_ever, &fd);
  for (int i = 0; i < round_trips + 1; ++i) {
    fill(&shared_message, agent);
    if (write(fd, &shared_message, kSize) != kSize) fail("write");
  }
  pthread_cancel(receiver);
  void *end;
  pthread_join(receiver, &end);
  printf("cancelled: %s\n", end == PTHREAD_CANCELED ? "yes" : "no");
  close(fd);
}

struct writer {
  int fd;
  uint32_t agent, first;
};

static void *write_many(void *argument) {
  struct writer *writer = argument;
  struct message message;
  fill(&message, writer->agent);
  struct ib_user_mad *umad = (struct ib_user_mad *)message.bytes;
  for (uint32_t i = 0; i < 1000; ++i) {
    uint32_t tid = writer->first + i;
    memcpy((uint8_t *)umad->data + 12, &tid, sizeof tid);
    if (write(writer->fd, &message, kSize) != kSize) fail("write");
  }
  return NULL;
}

static void two_writers(void) {
  uint32_t agent;
  int fd = warm(0, &agent);
  pthread_t threads[2];
  struct writer writers[2] = {{fd, agent, 100000}, {fd, agent, 200000}};
  for (int i = 0; i < 2; ++i) {
    pthread_create(&threads[i], NULL, write_many, &writers[i]);
  }
  uint32_t next[2] = {100000, 200000};
  int in_order = 1;
  for (int i = 0; i < 2000; ++i) {
    if (wait_for(fd, kPatience) != 1) fail("poll");
    if (read(fd, &shared_message, kSize) != kSize) fail("read");
    uint32_t tid = tid_of(&shared_message);
    if (tid != next[tid / 200000]++) in_order = 0;
  }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  printf("two writers: %s, then %s\n", in_order ? "in order" : "mixed up",
         result(wait_for(fd, 0)));
  last_tid = 300000;
  close(fd);
}

static void executed(const char *self) {
  uint32_t agent;
  int fd = warm(0, &agent);
  fill(&shared_message, agent);
  if (write(fd, &shared_message, kSize) != kSize) fail("write");
  wait_for(fd, kPatience);
  char number[16];
  snprintf(number, sizeof number, "%d", fd);
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, "0", "read", number, (char *)NULL);
    _exit(9);
  }
  int status;
  waitpid(child, &status, 0);
  printf("executed: %d, then %s\n", WEXITSTATUS(status), result(wait_for(fd, 0)));
  close(fd);
}

int main(int count, char **arguments) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  round_trips = count > 1 ? atoi(arguments[1]) : 0;
  if (count > 3) {  // executed: a message waits there
    return read(atoi(arguments[3]), &shared_message, kSize) != kSize;
  }
  if (count > 2) {
    uint32_t agent;
    int fd = warm(0, &agent);
    printf("ready\n");
    while (*arguments[2] == '+') {
      for (int i = 0; i < round_trips; ++i) {
        int fault = round_trip(fd, agent, &shared_message);
        if (fault == 0) continue;
        printf("failed at %d: %s\n", fault, strerror(errno));
        return 1;
      }
      printf("ready\n");
    }
    int events;
    do {
      events = wait_for(fd, *arguments[2] == '.' ? 20 : -1);
    } while (events == 0);
    printf("ended: %s\n", result(events));
    return 0;
  }
  empty();
  short_read();
  bad_pointers();
  duplicates();
  other_ways();
  numbers_again();
  alarm_in_poll(0, "signal");
  alarm_in_poll(SA_RESTART, "signal that restarts calls");
  forked();
  cancelled();
  two_writers();
  executed(arguments[0]);
  return 0;
}
