// Tests of the bank for Catch2 2: names of its test cases are free text.
#define CATCH_CONFIG_MAIN
#include "bank.h"
#include <catch2/catch.hpp>

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
