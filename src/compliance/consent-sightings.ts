import { countText, timeText } from '../core/text.ts'
import type { SaidRow } from './consent-queries.ts'
import { GOOGLE_VENDORS } from './consent-vendors.ts'
import type { ConsentKind } from './finding.ts'
import type { RateFall } from './update-rate.ts'

/** What is wrong with single requests. */
export type RequestKind = Exclude<ConsentKind, 'update_rate'>

/** What is wrong with what Google's requests say; mostly nothing. Of other vendors nothing is. */
export function faultsOf({ vendor, gcs, gcd }: Pick<SaidRow, 'vendor' | 'gcs' | 'gcd'>): RequestKind[] {
  if (!Object.hasOwn(GOOGLE_VENDORS, vendor)) return []
  if (!gcs?.trim() && !gcd?.trim()) return ['no_signal']
  const letters = (gcd ?? '').replaceAll(/[^a-z]/g, '')
  if (letters === '') return []
  if (/^l+$/.test(letters)) return ['not_set']
  return [
    ...(/[mn]/.test(letters) ? (['no_default'] as const) : []),
    ...(/[tv]/.test(letters) ? (['granted_by_default'] as const) : []),
  ]
}

const WORDS: Readonly<Record<RequestKind, string>> = {
  no_signal: 'said nothing of consent (neither gcs nor gcd)',
  not_set: 'said that no consent was set (every letter of gcd is l)',
  no_default: 'came before a default of consent was set (m or n in gcd)',
  granted_by_default: 'had consent granted by default (t or v in gcd)',
  after_denial: 'were sent although ad_storage was denied or GPC was on',
}

/** What was seen on one UTC day: of so many requests so many, and since when. */
export interface Seen {
  vendor: string
  kind: RequestKind
  day: number
  count: number
  requests: number
  since: number
}

/** `On 2026-01-05 12.5 % of 1,234 requests of Google Ads …; first seen 2026-01-03 10:12 UTC.` */
export function sentenceOf({ vendor, kind, day, count, requests, since }: Seen): string {
  const date = new Date(day).toISOString().slice(0, 10)
  const all = countText(Math.max(1, Math.round(requests)))
  return `On ${date} ${shareText(count / requests)} of ${all} requests of ${vendor} ${WORDS[kind]}; first seen ${timeText(since)}.`
}

export function fallSentence({ from, to, sessions, rate, rateBefore }: RateFall): string {
  return (
    `${shareText(rate)} of ${countText(sessions)} sessions denied by default answered the banner from ${timeText(from)} ` +
    `to ${timeText(to)}; in the seven days before ${shareText(rateBefore)} did.`
  )
}

function shareText(share: number): string {
  const percent = Math.min(100, share * 100)
  return percent > 0 && percent < 0.1 ? 'under 0.1 %' : `${Math.round(percent * 10) / 10} %`
}
