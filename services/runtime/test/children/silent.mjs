// Reads, and never answers.
process.stdin.resume();
