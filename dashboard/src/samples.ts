// What the Live page shows: the status and the metrics every few seconds, and the last day every minute.
import { useEffect, useState } from 'preact/hooks'
import type { StatusResponse } from '../../src/contract/admin.ts'
import type { StatusHistory } from '../../src/contract/watch.ts'
import { readGauges, type Gauges } from './gauges.ts'
import { messagesOf } from './loaded.ts'
import { useSession } from './session.ts'

const pollMs = 3_000
/** The status itself gives up on a warehouse that hangs after 10 s. */
const answerMsMax = 15_000
const historyPauseMs = 60_000
/** Five minutes of samples. */
const samplesMax = 100

export interface Sample {
  readonly atMs: number
  readonly status: StatusResponse
  readonly gauges: Gauges
}

/** For how long nothing has been heard, to the second. */
export function useSilence(latest: Sample | undefined): number {
  const [nowMs, setNowMs] = useState(performance.now())
  useEffect(() => {
    const timer = window.setInterval(() => setNowMs(performance.now()), 1_000)
    return () => window.clearInterval(timer)
  }, [])
  return latest === undefined ? 0 : Math.max(0, nowMs - latest.atMs)
}

/** The last day changes once a minute. */
export function useHistory(): StatusHistory | null {
  const { api } = useSession()
  const [history, setHistory] = useState<StatusHistory | null>(null)
  useEffect(() => {
    const abort = new AbortController()
    const ask = () => {
      if (document.hidden) return
      api
        .get<StatusHistory>('admin/v1/status/history', abort.signal)
        .then(setHistory)
        // The verdict tells that the service does not answer.
        .catch(() => undefined)
    }
    ask()
    const timer = window.setInterval(ask, historyPauseMs)
    return () => {
      abort.abort()
      window.clearInterval(timer)
    }
  }, [api])
  return history
}

export function useSamples() {
  const { api } = useSession()
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const [messages, setMessages] = useState<readonly string[]>([])
  useEffect(() => {
    const abort = new AbortController()
    let timer = 0
    const ask = async () => {
      const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(answerMsMax)])
      const status = await api.get<StatusResponse>('admin/v1/status', signal)
      const { text } = await api.text({
        method: 'GET',
        path: 'metrics',
        mediaType: 'text/plain',
        signal,
      })
      const sample = { atMs: performance.now(), status, gauges: readGauges(text) }
      setSamples((known) => [...known, sample].slice(-samplesMax))
      setMessages([])
    }
    const poll = () => {
      // A hidden tab need not refresh.
      const turn = document.hidden ? Promise.resolve() : ask()
      turn
        .catch((error: unknown) => {
          if (!abort.signal.aborted) setMessages(messagesOf(error))
        })
        .finally(() => {
          if (!abort.signal.aborted) timer = window.setTimeout(poll, pollMs)
        })
    }
    poll()
    return () => {
      abort.abort()
      clearTimeout(timer)
    }
  }, [api])
  return { samples, messages }
}

/** The increase between samples. A counter that fell has restarted with its process. */
export function ratesOf(samples: readonly Sample[]): readonly number[] {
  const shipped = (sample: Sample) => sample.gauges.get('shelftrace_shipped_events') ?? 0
  return samples.slice(1).map((sample, index) => {
    const before = samples[index] ?? sample
    const seconds = (sample.atMs - before.atMs) / 1_000
    return seconds <= 0 ? 0 : Math.max(0, shipped(sample) - shipped(before)) / seconds
  })
}
