"""What one agent did lately, call by call: which calls follow one another, and what they brought."""
