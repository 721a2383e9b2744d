// Two streams share a connection, on which each sends frames: a header with the length, then the body.
//
// Bug: header and body are two calls of write(), and nothing keeps them together.
// Shows as: an exception in who reads: a header that is none.
// FIXED: a lock for the frame.
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>

struct Header {
    uint16_t magic, length;
};

class Connection
{
  public:
    explicit Connection(int fd) : fd(fd)
    {
    }
    void send(const std::string &body)
    {
#ifdef FIXED
        std::lock_guard guard(lock);
#endif
        Header header{ 0x4832, static_cast<uint16_t>(body.size()) };
        put(&header, sizeof header);
        put(body.data(), body.size());
    }

  private:
    void put(const void *what, size_t size)
    {
        if (write(fd, what, size) != static_cast<ssize_t>(size)) // culprit
            throw std::runtime_error("write");
    }
    int fd;
    std::mutex lock;
};

static void get(int fd, void *what, size_t size)
{
    if (read(fd, what, size) != static_cast<ssize_t>(size))
        throw std::runtime_error("read");
}

int main()
{
    int ends[2];
    if (pipe(ends))
        return 1;
    Connection connection(ends[1]);
    auto stream = [&](std::string body) {
        for (int i = 0; i < 3; i++)
            connection.send(body);
    };
    std::thread one(stream, "index"), other(stream, "style.css");
    for (int i = 0; i < 6; i++) {
        Header header;
        char body[64];
        get(ends[0], &header, sizeof header);
        if (header.magic != 0x4832 || header.length > sizeof body)
            throw std::runtime_error("no frame");
        get(ends[0], body, header.length);
    }
    one.join();
    other.join();
}
