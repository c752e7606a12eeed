/** Waits for the work, but no longer than until the signal is aborted. The work goes on. */
export async function untilAborted(work: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return
  const listening = new AbortController()
  const aborted = new Promise<void>((resolve) => {
    const options = { once: true, signal: listening.signal }
    signal.addEventListener('abort', () => resolve(), options)
  })
  try {
    await Promise.race([work, aborted])
  } finally {
    // A signal may outlive many waits.
    listening.abort()
  }
}
