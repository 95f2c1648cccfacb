// Ends at once, with the given exit code and last words.
process.stderr.write(`${process.argv[3] ?? ''}\n`);
process.exit(Number(process.argv[2]));
