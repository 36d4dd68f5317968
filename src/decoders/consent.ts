import type { Params } from './params.ts'

/** In the order of their characters in `gcs` (the first two) and `gcd`. */
const SIGNALS = ['ad_storage', 'analytics_storage', 'ad_user_data', 'ad_personalization'] as const

const GCS_STATES: Record<string, string> = { '0': 'denied', '1': 'granted', '-': 'not required' }

const GCD_STATES: Record<string, string> = {
  l: 'not set',
  p: 'denied by default',
  q: 'denied by default and update',
  t: 'granted by default',
  r: 'denied by default, granted by update',
  m: 'denied by update, no default',
  n: 'granted by update, no default',
  u: 'granted by default, denied by update',
  v: 'granted by default and update',
}

/**
 * What Google's Consent Mode told Google, in words: `gcs.ad_storage = "denied"`, `gcd.ad_user_data = "granted by
 * default"`. Nothing for a parameter that is absent or of an unknown form. Google documents neither; the letters
 * are those of https://www.simoahava.com/analytics/consent-mode-v2-google-tags/
 */
export function readConsent({ gcs, gcd }: Params): Params {
  const words: Params = {}
  // `G1` and one character a signal; `1`, any character, then a letter and any character for each signal.
  const [, ...basic] = /^G1([01-])([01-])/.exec(gcs ?? '') ?? []
  const [, ...detailed] = /^1.([a-z]).([a-z]).([a-z]).([a-z])/.exec(gcd ?? '') ?? []
  for (const [index, signal] of SIGNALS.entries()) {
    const state = GCS_STATES[basic[index] ?? '']
    if (state) words[`gcs.${signal}`] = state
    const history = GCD_STATES[detailed[index] ?? '']
    if (history) words[`gcd.${signal}`] = history
  }
  return words
}
