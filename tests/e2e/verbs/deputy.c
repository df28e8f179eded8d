// deputy open PROGRAM WORD...: opens an adapter, makes it the standard output,
// and starts PROGRAM, or a forked child for "fork".
// deputy write [DROP]: writes a command to its standard output whose answer
// goes to its own memory, and says on its standard error how that went. Before,
// it becomes the user who started it: for good ("real"), or not ("effective").
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <rdma/ib_user_verbs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int fail(const char *what) {
  perror(what);
  return 1;
}

static int write_command(void) {
  static uint32_t secret = 0xffffffff;
  struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_alloc_pd body;
  } command = {{IB_USER_VERBS_CMD_ALLOC_PD, sizeof command / 4, 1},
               {.response = (uintptr_t)&secret}};
  const ssize_t written = write(1, &command, sizeof command);
  fprintf(stderr, "%s, %s\n",
          written == (ssize_t)sizeof command ? "taken" : strerrorname_np(errno),
          secret == 0xffffffff ? "untouched" : "overwritten");
  return 0;
}

static int open_adapter(void) {
  struct {
    struct ib_uverbs_cmd_hdr header;
    struct ib_uverbs_get_context body;
  } command = {{IB_USER_VERBS_CMD_GET_CONTEXT, sizeof command / 4, 2}, {0}};
  struct ib_uverbs_get_context_resp context;
  command.body.response = (uintptr_t)&context;
  const int device = open("/dev/infiniband/uverbs0", O_RDWR | O_CLOEXEC);
  if (device < 0) return fail("open");
  if (write(device, &command, sizeof command) != (ssize_t)sizeof command) {
    return fail("GET_CONTEXT");
  }
  return dup2(device, 1) == 1 ? 0 : fail("dup2");
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "open") == 0) {
    if (open_adapter() != 0) return 1;
    if (strcmp(argv[2], "fork") != 0) {
      execv(argv[2], argv + 2);
      return fail(argv[2]);
    }
    if (fork() == 0) return write_command();
    return wait(NULL) < 0;
  }
  if (argc < 2 || strcmp(argv[1], "write") != 0) return 2;
  const uid_t user = getuid();
  if (argc > 2 && strcmp(argv[2], "real") == 0 &&
      setresuid(user, user, user) != 0) {
    return fail("setresuid");
  }
  if (argc > 2 && strcmp(argv[2], "effective") == 0 && seteuid(user) != 0) {
    return fail("seteuid");
  }
  return write_command();
}
