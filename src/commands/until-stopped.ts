/** Resolves with the name of the signal on SIGINT, SIGTERM, or when the terminal is closed (SIGHUP). */
export function untilStopped(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve(signal))
  })
}
