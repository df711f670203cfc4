"""From a program to a plan: expressions to values and masks, rules to masks, masks to a schedule."""
