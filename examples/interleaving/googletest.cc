// A unit test of an interleaving, for GoogleTest: pct script --each-test -- ./tests
//
//     c++ -g -pthread -I../../include -o tests googletest.cc -lgtest_main -lgtest
#include "account.h"
#include <gtest/gtest.h>

PCT_TEST(Account, TwoWithdrawals, R"(
    local a, b = thread(1), thread(2)
    run(a, point "checked")        -- a has looked,
    run(b, ends + blocked_by(a))   -- b withdraws, or waits for a's lock
    finish(a)
)")
{
    account account;
    std::thread a([&] { account.withdraw(60); }), b([&] { account.withdraw(60); });
    a.join();
    b.join();
    EXPECT_TRUE(account.balance >= 0);
}

TEST(Account, One)
{
    account account;
    account.withdraw(60);
    EXPECT_EQ(account.balance, 40);
}
