// Tests of the bank for Catch2 2 or 3: names of its test cases are free text.
#include "bank.h"
#if __has_include(<catch2/catch_test_macros.hpp>)
#include <catch2/catch_test_macros.hpp>
#else
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

TEST_CASE("one transfer, there")
{
    account a = { PTHREAD_MUTEX_INITIALIZER, 100 }, b = { PTHREAD_MUTEX_INITIALIZER, 100 };
    bank_transfer(&a, &b, 30);
    CHECK(a.balance == 70);
    CHECK(b.balance == 130);
}

TEST_CASE("opposite transfers [sic], \"both\"")
{
    CHECK(bank_test() == 200);
}
