// fifo_swap FIFO: processes ask for contexts while another thread of each puts
// the FIFO in place of the device and back, until each is made to open the FIFO
// by who gives it a descriptor.  Prints "held" then, and stays.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

// More clients than the daemon has threads that are not held up (4).
enum { CLIENTS = 8, OFTEN = 100 };

static int device, fifo, number;  // the last one is what is swapped

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static void *swap(void *nothing) {
  for (;;) {
    dup2(fifo, number);
    usleep(100);
    dup2(device, number);
    usleep(100);
  }
  return nothing;
}

// A second context of a file is refused, but only after a descriptor was given.
static void ask_for_contexts(void) {
  struct ib_uverbs_get_context_resp context;
  struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_get_context body;
  } command = {
      {IB_USER_VERBS_CMD_GET_CONTEXT, sizeof command / 4, sizeof context / 4},
      {.response = (uintptr_t)&context}};
  pthread_t thread;
  number = dup(device);
  if (number < 0 || pthread_create(&thread, NULL, swap, NULL) != 0) {
    fail("a client");
  }
  for (;;) {
    if (write(number, &command, sizeof command) < 0) continue;
  }
}

// Returns how often a process has gone to sleep, if it sleeps now while somebody
// traces it; else -1.
static long sleeps_traced(pid_t pid) {
  char path[64], line[256], state = 0;
  int tracer = 0;
  long times = -1;
  snprintf(path, sizeof path, "/proc/%d/status", pid);
  FILE *file = fopen(path, "r");
  if (file == NULL) fail(path);
  while (fgets(line, sizeof line, file) != NULL) {
    sscanf(line, "State: %c", &state);
    sscanf(line, "TracerPid: %d", &tracer);
    sscanf(line, "voluntary_ctxt_switches: %ld", &times);
  }
  fclose(file);
  return state == 'S' && tracer != 0 ? times : -1;
}

static void wait_until_held(pid_t client) {
  long before = -1;
  for (int same = 0; same < OFTEN; usleep(1000)) {
    const long now = sleeps_traced(client);
    same = now >= 0 && now == before ? same + 1 : 0;
    before = now;
  }
}

int main(int argc, char **argv) {
  pid_t clients[CLIENTS];
  const pid_t parent = getpid();
  if (argc != 2) return 2;
  fifo = open(argv[1], O_PATH | O_CLOEXEC);
  if (fifo < 0) fail(argv[1]);
  for (int i = 0; i < CLIENTS; ++i) {
    clients[i] = fork();
    if (clients[i] != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
    if (device < 0) fail("uverbs0");
    ask_for_contexts();
  }
  for (int i = 0; i < CLIENTS; ++i) wait_until_held(clients[i]);
  printf("held\n");
  fflush(stdout);
  for (;;) pause();
}
