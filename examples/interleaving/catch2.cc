// A unit test of an interleaving, for Catch2: pct script --each-test -- ./tests
//
//     c++ -g -pthread -I../../include -o tests catch2.cc
#define CATCH_CONFIG_MAIN
#include "account.h"
#include <catch2/catch.hpp>

PCT_TEST("two withdrawals", R"(
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
    CHECK(account.balance >= 0);
}

TEST_CASE("one withdrawal")
{
    account account;
    account.withdraw(60);
    CHECK(account.balance == 40);
}
