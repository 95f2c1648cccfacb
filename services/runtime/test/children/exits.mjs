// Ends at once, with the given exit code and last output.
process.stderr.write(`${process.argv[3] ?? ''}\n`);
process.exit(Number(process.argv[2]));
