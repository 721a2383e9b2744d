/* A Qt program: a thread pool, mutexes, wait conditions, semaphores, read-write locks, queued signals between the event
 * loops of threads, timers, QtConcurrent. Qt's locks are futexes by syscall(), its event loops GLib's. What it prints
 * does not depend on the order of its threads.
 *
 * Qt seeds its hash tables by the processor's own random numbers, which no seed fixes: a pool wakes its threads in the
 * order of such a table. Run it with QT_HASH_SEED=0. */
#include <QCoreApplication>
#include <QFutureWatcher>
#include <QMutex>
#include <QObject>
#include <QQueue>
#include <QReadWriteLock>
#include <QRunnable>
#include <QSemaphore>
#include <QThread>
#include <QThreadPool>
#include <QTimer>
#include <QVector>
#include <QWaitCondition>
#include <QtConcurrent>
#include <cstdio>

/* A pool whose tasks count under a mutex. */
class Task : public QRunnable
{
  public:
    Task(QMutex *mutex, long *sum, int number) : mutex(mutex), sum(sum), number(number)
    {
    }
    void run() override
    {
        QMutexLocker locker(mutex);
        *sum += number;
    }

  private:
    QMutex *mutex;
    long *sum;
    int number;
};

static long pool()
{
    QThreadPool threads;
    QMutex mutex;
    long sum = 0;
    threads.setMaxThreadCount(4);
    for (int i = 1; i <= 100; i++)
        threads.start(new Task(&mutex, &sum, i));
    threads.waitForDone();
    return sum;
}

/* A bounded queue: a mutex and two conditions, three producers and two consumers. */
static long queue()
{
    QMutex mutex;
    QWaitCondition filled, emptied;
    QQueue<int> values;
    long sum = 0;
    QVector<QThread *> threads;
    for (int producer = 0; producer < 3; producer++)
        threads.append(QThread::create([&, producer] {
            for (int i = 0; i < 40; i++) {
                QMutexLocker locker(&mutex);
                while (values.size() == 4)
                    emptied.wait(&mutex);
                values.enqueue(producer * 100 + i);
                filled.wakeOne();
            }
        }));
    for (int consumer = 0; consumer < 2; consumer++)
        threads.append(QThread::create([&] {
            for (int i = 0; i < 60; i++) {
                QMutexLocker locker(&mutex);
                while (values.isEmpty())
                    if (!filled.wait(&mutex, 5000))
                        continue;
                sum += values.dequeue();
                emptied.wakeAll();
            }
        }));
    for (QThread *thread : threads)
        thread->start();
    for (QThread *thread : threads) {
        thread->wait();
        delete thread;
    }
    return sum;
}

/* Semaphores around a ring, several places at a time. */
static long ring()
{
    const int places = 8, count = 120;
    QSemaphore vacant(places), used;
    int values[places];
    long sum = 0;
    QThread *writer = QThread::create([&] {
        for (int i = 0; i < count; i += 2) {
            vacant.acquire(2);
            values[i % places] = i;
            values[(i + 1) % places] = i + 1;
            used.release(2);
        }
    });
    QThread *reader = QThread::create([&] {
        for (int i = 0; i < count; i++) {
            while (!used.tryAcquire(1, 100))
                continue;
            sum += values[i % places];
            vacant.release();
        }
    });
    writer->start();
    reader->start();
    writer->wait();
    reader->wait();
    delete writer;
    delete reader;
    return sum;
}

/* Readers never see half of what writers write. */
static long readers_and_writers()
{
    QReadWriteLock lock;
    long first = 0, second = 0, torn = 0;
    QMutex mutex;
    QVector<QThread *> threads;
    for (int i = 0; i < 5; i++)
        threads.append(QThread::create([&, i] {
            for (int round = 0; round < 30; round++) {
                if (i < 2) {
                    QWriteLocker locker(&lock);
                    first++;
                    QThread::yieldCurrentThread();
                    second++;
                } else {
                    QReadLocker locker(&lock);
                    if (first != second) {
                        QMutexLocker counter(&mutex);
                        torn++;
                    }
                }
            }
        }));
    for (QThread *thread : threads)
        thread->start();
    for (QThread *thread : threads) {
        thread->wait();
        delete thread;
    }
    return torn ? -torn : first;
}

/* Objects that live in threads with event loops, and send each other signals: without moc, by functors in the
 * receiver's thread. */
static long signals_between_loops()
{
    QThread first, second;
    QObject one, two;
    long rounds = 0;
    one.moveToThread(&first);
    two.moveToThread(&second);
    QEventLoop loop;
    std::function<void(int)> ping, pong;
    ping = [&](int left) {
        QMetaObject::invokeMethod(
            &two, [&, left] { pong(left); }, Qt::QueuedConnection);
    };
    pong = [&](int left) {
        rounds++;
        if (left)
            QMetaObject::invokeMethod(
                &one, [&, left] { ping(left - 1); }, Qt::QueuedConnection);
        else
            QMetaObject::invokeMethod(
                &loop, [&] { loop.quit(); }, Qt::QueuedConnection);
    };
    first.start();
    second.start();
    long answer = 0;
    QMetaObject::invokeMethod(
        &one, [&] { answer = 42; }, Qt::BlockingQueuedConnection);
    QMetaObject::invokeMethod(
        &one, [&] { ping(50); }, Qt::QueuedConnection);
    loop.exec();
    first.quit();
    second.quit();
    first.wait();
    second.wait();
    return rounds + answer;
}

/* A timer of the main loop, and one of another thread's. */
static long timers()
{
    QThread thread;
    QObject object;
    QEventLoop loop;
    int ticks = 0, there = 0;
    object.moveToThread(&thread);
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, &loop, [&] {
        if (++ticks == 5)
            loop.quit();
    });
    timer.start(10);
    thread.start();
    QMetaObject::invokeMethod(
        &object,
        [&] {
            QTimer::singleShot(3, &object, [&] {
                there++;
                thread.quit();
            });
        },
        Qt::QueuedConnection);
    loop.exec();
    thread.wait();
    return ticks * 10 + there;
}

static long square(const int &number)
{
    return (long)number * number;
}

static void add(long &all, const long &one)
{
    all += one;
}

static long concurrent()
{
    QVector<int> numbers;
    for (int i = 0; i < 200; i++)
        numbers.append(i);
    const QFuture<long> sum = QtConcurrent::mappedReduced(numbers, square, add);
    QFuture<int> answer = QtConcurrent::run([] {
        QThread::msleep(20);
        return 7;
    });
    QFutureWatcher<int> watcher;
    QEventLoop loop;
    QObject::connect(&watcher, &QFutureWatcher<int>::finished, &loop, &QEventLoop::quit);
    watcher.setFuture(answer);
    loop.exec();
    return sum.result() + answer.result();
}

int main(int count, char **arguments)
{
    QCoreApplication application(count, arguments);
    std::printf("pool %ld\n", pool());
    std::printf("queue %ld\n", queue());
    std::printf("ring %ld\n", ring());
    std::printf("read-write lock %ld\n", readers_and_writers());
    std::printf("signals %ld\n", signals_between_loops());
    std::printf("timers %ld\n", timers());
    std::printf("concurrent %ld\n", concurrent());
    return 0;
}
