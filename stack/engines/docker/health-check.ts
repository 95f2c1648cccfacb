/** The check of the part, which also ends a part that hangs: Docker restarts no unhealthy container. */
export function watching(check: readonly string[]): readonly string[] {
  return ['CMD', ...watch, ...check];
}

/** The check of the part, from the health check of its container. */
export function checkIn(test: readonly string[] = []): readonly string[] {
  return test.slice(1 + watch.length);
}

/** Checks in a row without any answer. With the pauses between them this takes most of a minute. */
const silencesMax = 3;
/** Less than half of Docker's own deadline, for a busy machine. A check that Docker ends cannot count. */
const patienceSeconds = 4;

/**
 * A part that reports that it is not ready is not silent: curl, wget and our check use the same words. Silence counts only after the first
 * answer, because a start may take long. /tmp is empty after each start. Process 1 is Docker's init, which ends with the part.
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
