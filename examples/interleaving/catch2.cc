// A unit test of an interleaving, for Catch2: pct script --each-test -- ./tests
//
//     c++ -g -DCATCH_CONFIG_MAIN -pthread -I../../include -o tests catch2.cc      with version 2
//     c++ -g -pthread -I../../include -o tests catch2.cc -lCatch2Main -lCatch2    with version 3
#include "account.h"
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#include <catch2/catch.hpp>
#endif

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
