// What a client of libibverbs sees of the descriptors that it is given.
//
//   signals   asks for events 20,000 times while signals come that no call is
//             restarted after; prints how many requests failed
//   opens     opens and closes the device 50 times; prints how many descriptors
//             that left open
//   channels  makes channels with a queue each, then channels alone; prints how
//             many there were of both
#include <dirent.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

enum { REQUESTS = 20000, OPENS = 50, CHANNELS = 100 };

static struct ibv_context *open_device(void) {
  struct ibv_device **devices = ibv_get_device_list(NULL);
  struct ibv_context *context =
      devices && devices[0] ? ibv_open_device(devices[0]) : NULL;
  if (devices) ibv_free_device_list(devices);
  return context;
}

static int descriptors(void) {
  int count = 0;
  DIR *directory = opendir("/proc/self/fd");
  while (directory && readdir(directory)) ++count;
  closedir(directory);
  return count;
}

static void on_alarm(int number) { (void)number; }

static int signals(void) {
  struct ibv_context *context = open_device();
  struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
  struct ibv_cq *cq = ibv_create_cq(context, 8, NULL, channel, 0);
  if (!cq) return 1;
  const struct sigaction action = {.sa_handler = on_alarm};
  sigaction(SIGALRM, &action, NULL);
  const struct itimerval often = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  int failed = 0;
  for (int i = 0; i < REQUESTS; ++i) failed += ibv_req_notify_cq(cq, 0) != 0;
  setitimer(ITIMER_REAL, &never, NULL);
  printf("%d of %d failed\n", failed, REQUESTS);
  return 0;
}

static int opens(void) {
  int before = 0;
  for (int i = 0; i < OPENS; ++i) {
    struct ibv_context *context = open_device();
    if (!context || !ibv_create_comp_channel(context)) return 1;
    if (ibv_close_device(context) != 0) return 1;
    if (i == 0) before = descriptors();
  }
  // Each channel is a descriptor, which closing the device leaves open.
  printf("%d more\n", descriptors() - before - (OPENS - 1));
  return 0;
}

static int channels(void) {
  struct ibv_context *context = open_device();
  int with_queue = 0, alone = 0;
  for (; context && with_queue < CHANNELS; ++with_queue) {
    struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
    if (!channel || !ibv_create_cq(context, 8, NULL, channel, 0)) break;
  }
  while (alone < CHANNELS && ibv_create_comp_channel(context)) ++alone;
  printf("%d with a queue, %d alone, then: %s\n", with_queue, alone,
         strerror(errno));
  if (!ibv_create_cq(context, 8, NULL, NULL, 0)) return 1;
  printf("after a queue: %s\n",
         ibv_create_comp_channel(context) ? "another" : strerror(errno));
  return 0;
}

int main(int count, char **arguments) {
  if (count != 2) return 2;
  if (strcmp(arguments[1], "signals") == 0) return signals();
  if (strcmp(arguments[1], "opens") == 0) return opens();
  if (strcmp(arguments[1], "channels") == 0) return channels();
  return 2;
}
