"""The module's test: what pytest finds."""
import bank


def test_opposite_transfers():
    assert bank.opposite_transfers() == 200
