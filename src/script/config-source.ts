import type { FullCaptureConfig } from '../capture/capture-config.ts'
import type { Guard } from './guard.ts'
import type { WaysOut } from './sender.ts'

/** A page that stays open asks for its configuration again so often: it may have been switched off meanwhile. */
const CONFIG_AGE_MS = 60 * 60_000

export interface ConfigSourceParts {
  configUrl: string
  guard: Guard
  ways: WaysOut
  now(): number
  /** Called with each configuration that came. */
  take(config: FullCaptureConfig): void
}

/** Asks for the whole configuration at once. Answers what is to be called now and then: it asks again when it should. */
export function fetchConfig({ configUrl, guard, ways, now, take }: ConfigSourceParts): () => void {
  let askAt = 0
  const ask = async () => {
    const reply = await ways.fetch?.(configUrl, { credentials: 'omit', referrerPolicy: 'no-referrer', priority: 'low' })
    const config: FullCaptureConfig = await reply?.json()
    askAt = now() + CONFIG_AGE_MS
    guard.run(() => take(config))
  }
  const askWhenDue = () => {
    if (now() < askAt) return
    // Not before the answer is due.
    askAt = now() + 5000
    void ask().catch(() => undefined)
  }
  askWhenDue()
  return askWhenDue
}
