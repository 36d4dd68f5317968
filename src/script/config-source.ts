import type { FullCaptureConfig } from '../capture/capture-config.ts'
import type { ErrorGuard } from './error-guard.ts'
import type { SendFunctions } from './sender.ts'

/** Interval at which an open page reloads its configuration, because capture may be disabled at any time. */
const CONFIG_AGE_MS = 60 * 60_000

export interface ConfigSourceDeps {
  configUrl: string
  guard: ErrorGuard
  ways: SendFunctions
  now(): number
  /** Called with each configuration after it has been loaded. */
  take(config: FullCaptureConfig): void
}

/**
 * Loads the full configuration immediately. Returns a function that must be called regularly and reloads the
 * configuration when due.
 */
export function fetchConfig({ configUrl, guard, ways, now, take }: ConfigSourceDeps): () => void {
  let askAt = 0
  const ask = async () => {
    const reply = await ways.fetch?.(configUrl, { credentials: 'omit', referrerPolicy: 'no-referrer', priority: 'low' })
    const config: FullCaptureConfig = await reply?.json()
    askAt = now() + CONFIG_AGE_MS
    guard.run(() => take(config))
  }
  const askWhenDue = () => {
    if (now() < askAt) return
    // Prevents another request while a response is pending.
    askAt = now() + 5000
    void ask().catch(() => undefined)
  }
  askWhenDue()
  return askWhenDue
}
