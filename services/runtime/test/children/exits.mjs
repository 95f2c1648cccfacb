// Ends at once, with the exit code and the last words it is given.
process.stderr.write(`${process.argv[3] ?? ''}\n`);
process.exit(Number(process.argv[2]));
