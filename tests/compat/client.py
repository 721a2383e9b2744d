"""Clients of the servers under test: several connections at once, from threads outside pct. They print what the server
answered, in an order that does not depend on the schedule.

    client.py memcached|redis|http PORT
"""

import hashlib
import http.client
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

TIMEOUT = 110  # seconds; a server that is silent for longer hangs


class Connection:
    """Lines of text to a server, and lines and blocks of its answers."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), TIMEOUT)
        self.stream = self.socket.makefile("rwb")

    def ask(self, request):
        self.stream.write(request)
        self.stream.flush()
        return self.line()

    def line(self):
        answer = self.stream.readline()
        if not answer.endswith(b"\r\n"):
            raise EOFError(f"the server ended with {answer!r}")
        return answer[:-2].decode()

    def block(self, size):
        return self.stream.read(size + 2)[:-2].decode()


def memcached(port, number):
    """One client: keys of its own, and a counter that all share."""
    connection = Connection(port)
    answers = []
    for i in range(40):
        value = f"{number}-{i}" * (1 + i % 5)
        answers.append(connection.ask(f"set key{number}.{i} 0 0 {len(value)}\r\n{value}\r\n".encode()))
        connection.ask(b"incr shared 1\r\n")
    for i in range(0, 40, 3):
        head = connection.ask(f"get key{number}.{i}\r\n".encode())
        answers.append(head + " " + connection.block(int(head.split()[3])) + " " + connection.line())
        answers.append(connection.ask(f"delete key{number}.{i}\r\n".encode()))
        answers.append(connection.ask(f"get key{number}.{i}\r\n".encode()))
    return answers


def command(*words):
    """A command in redis's protocol."""
    return f"*{len(words)}\r\n".encode() + b"".join(f"${len(w)}\r\n{w}\r\n".encode() for w in words)


def redis(port, number):
    """One client: a list and a hash of its own, and a counter that all share; 20 commands at a time."""
    connection = Connection(port)
    answers = []
    for start in range(0, 40, 20):
        batch = []
        for i in range(start, start + 20):
            batch += [command("RPUSH", f"list{number}", str(i)), command("INCR", "shared")]
            batch += [command("HSET", f"hash{number}", str(i % 7), str(i))]
        connection.stream.write(b"".join(batch))
        connection.stream.flush()
        replies = [connection.line() for _ in batch]
        answers += [reply for index, reply in enumerate(replies) if index % 3 != 1]
    answers.append(connection.ask(command("LLEN", f"list{number}")))
    size = connection.ask(command("HGET", f"hash{number}", "3"))
    answers.append(connection.block(int(size[1:])))
    return answers


def http_requests(port, number):
    """50 requests of one client: files that exist, that do not, and parts of them, over connections that are kept."""
    answers = []
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
    for i in range(50):
        headers = {"Range": f"bytes={i}-{i + number}"} if i % 3 == 1 else {}
        connection.request("GET", "/missing" if i % 10 == 9 else "/numbers.txt", headers=headers)
        response = connection.getresponse()
        body = response.read()
        answers.append(f"{response.status} {len(body)} {hashlib.sha256(body).hexdigest()[:8]}")
        if i % 20 == 19:
            connection.close()
    return answers


def main():
    kind, port = sys.argv[1], int(sys.argv[2])
    client, clients = {"memcached": (memcached, 4), "redis": (redis, 10), "http": (http_requests, 4)}[kind]
    if kind == "memcached":
        print(Connection(port).ask(b"set shared 0 0 1\r\n0\r\n"))
    with ThreadPoolExecutor(max_workers=clients) as pool:
        for number, answers in enumerate(pool.map(lambda n: client(port, n), range(clients))):
            print(number, *answers, sep="\n  ")
    if kind == "memcached":
        connection = Connection(port)
        print(connection.ask(b"get shared\r\n"), connection.line())
    elif kind == "redis":
        connection = Connection(port)
        print(connection.ask(command("GET", "shared")), connection.line())


main()
