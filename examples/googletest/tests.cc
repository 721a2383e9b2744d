// Tests of the bank for GoogleTest: one without threads, one with the bug, and parametrised ones.
#include "bank.h"
#include <gtest/gtest.h>

TEST(Bank, OneTransfer)
{
    account a = { PTHREAD_MUTEX_INITIALIZER, 100 }, b = { PTHREAD_MUTEX_INITIALIZER, 100 };
    bank_transfer(&a, &b, 30);
    EXPECT_EQ(a.balance, 70);
    EXPECT_EQ(b.balance, 130);
}

TEST(Bank, OppositeTransfers)
{
    EXPECT_EQ(bank_test(), 200);
}

TEST(Bank, DISABLED_NotYet)
{
    FAIL();
}

class Amounts : public testing::TestWithParam<long>
{
};

TEST_P(Amounts, AreTransferred)
{
    account a = { PTHREAD_MUTEX_INITIALIZER, 100 }, b = { PTHREAD_MUTEX_INITIALIZER, 100 };
    bank_transfer(&a, &b, GetParam());
    EXPECT_EQ(a.balance + b.balance, 200);
}

INSTANTIATE_TEST_SUITE_P(Small, Amounts, testing::Values(1, 2));
