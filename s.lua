run(thread "teller", "locks")
