import type { FullCaptureConfig } from '../capture/capture-config.ts'
import type { Guard } from './guard.ts'
import type { WaysOut } from './sender.ts'

/** How often an open page reloads its configuration: capture may have been switched off meanwhile. */
const CONFIG_AGE_MS = 60 * 60_000

export interface ConfigSourceParts {
  configUrl: string
  guard: Guard
  ways: WaysOut
  now(): number
  /** Called with each configuration that was loaded. */
  take(config: FullCaptureConfig): void
}

/** Loads the full configuration at once. Returns a function to be called regularly, which reloads it when it is due. */
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
    // Not again while the response is outstanding.
    askAt = now() + 5000
    void ask().catch(() => undefined)
  }
  askWhenDue()
  return askWhenDue
}
