"""What each kind of expression becomes: functions that are given the `Lowering` that they are part of."""
