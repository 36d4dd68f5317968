import { localUrlOf } from '../../app/local-url.ts'
import type { Config } from '../../config.ts'
import { messageOf } from '../../core/error.ts'
import { operatorFetch } from '../../transport/operator-fetch.ts'

/** Time limit for each request. */
const TIMEOUT_MS = 5000

/** Answer of a running server at its own address. */
export type ServerAnswer =
  | { kind: 'ready'; lastFlushAgeMs: number | null; lastEvaluationAgeMs: number | null; metrics: string }
  | { kind: 'not ready'; reason: string; metrics: string }
  /** Nothing or another program answers. */
  | { kind: 'silent'; url: string; reason: string }

/** Asks the server that listens at this address for its readiness and metrics. Uses no proxy. */
export async function askServer(listen: Config['listen']): Promise<ServerAnswer> {
  const url = localUrlOf(listen)
  const fetchFrom = operatorFetch({ proxy: '', ca: '' })
  const get = (path: string) =>
    fetchFrom(`${url}${path}`, { method: 'GET', headers: {}, signal: AbortSignal.timeout(TIMEOUT_MS) })
  try {
    const metrics = await (await get('/metrics')).text()
    if (!metrics.includes('tagwarden_build_info{')) return { kind: 'silent', url, reason: 'another program answers' }
    const readiness = await get('/readyz')
    const body = (await readiness.json()) as Record<string, unknown>
    if (readiness.status !== 200) return { kind: 'not ready', reason: String(body.error), metrics }
    const ageOf = (field: string) => (typeof body[field] === 'number' ? body[field] : null)
    return {
      kind: 'ready',
      lastFlushAgeMs: ageOf('lastFlushAgeMs'),
      lastEvaluationAgeMs: ageOf('lastEvaluationAgeMs'),
      metrics,
    }
  } catch (error) {
    return { kind: 'silent', url, reason: messageOf(error) }
  }
}

/** Returns the value of a metric without labels; null if it is absent. */
export function metricOf(metrics: string, name: string): number | null {
  const value = new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]
  return value === undefined ? null : Number(value)
}
