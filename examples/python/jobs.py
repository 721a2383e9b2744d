"""Workers that take jobs from a queue until it is empty.

Bug: a worker looks whether there is a job, and takes one behind that: another worker may have taken the last one, and
it waits for ever. With --fixed, it takes one if there is one.
"""
import queue
import sys
import threading

FIXED = "--fixed" in sys.argv
jobs = queue.Queue()
results = []
lock = threading.Lock()


def take():
    if FIXED:
        try:
            return jobs.get_nowait()
        except queue.Empty:
            return None
    return None if jobs.empty() else jobs.get()


def work():
    while (job := take()) is not None:
        with lock:
            results.append(job * job)


for number in range(4):
    jobs.put(number)
workers = [threading.Thread(target=work) for _ in range(3)]
for worker in workers:
    worker.start()
for worker in workers:
    worker.join()
assert sorted(results) == [0, 1, 4, 9]
