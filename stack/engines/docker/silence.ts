/**
 * What Docker runs in a container to learn how a part is: its check, which also ends a part that hangs. Docker starts again what ends, and not
 * what is unhealthy.
 */
export function watching(check: readonly string[]): readonly string[] {
  return ['CMD', ...watch, ...check];
}

/** The check alone, from what Docker runs. */
export function checkIn(test: readonly string[] = []): readonly string[] {
  return test.slice(1 + watch.length);
}

/** How often in a row nothing at all comes back. With what lies between two looks that is most of a minute. */
const silencesMax = 3;
/** Less than half of what Docker gives the whole of it, on a machine that does other things too: what Docker ends can't count. */
const patienceSeconds = 4;

/**
 * Who is not ready and says so is not silent: curl, wget and ours have the same words for it. Silence counts once a part has answered since it was
 * started: a start takes what it takes. /tmp is new with each start. Process 1 is Docker's own, and ends when the part does.
 */
const script = `
said=$(timeout ${patienceSeconds} "$@" 2>&1)
code=$?
case "$code $said" in
  0\\ * | *'returned error'*) echo 0 >/tmp/.silences ;;
  *)
    if read -r silences 2>/dev/null </tmp/.silences; then
      silences=$((silences + 1))
      echo "$silences" >/tmp/.silences
      if [ "$silences" -ge ${silencesMax} ]; then kill -9 -1; fi
    fi
    ;;
esac
printf '%s\\n' "$said"
exit "$code"
`;

const watch = ['sh', '-c', script, 'watch'] as const;
