import { readGpp, readSectionIds, readUsPrivacy } from './consent-gpp.ts'
import { readTcString } from './consent-tcf.ts'
import { MAX_PARAMS, type Params } from './params.ts'

/** Consent signals, in the order of their characters in `gcs` (which has only the first two) and `gcd`. */
const SIGNALS = ['ad_storage', 'analytics_storage', 'ad_user_data', 'ad_personalization'] as const

const GCS_STATES: Record<string, string> = { '0': 'denied', '1': 'granted', '-': 'not required' }

/** The meaning of a letter in `gcd`: the state of the signal, and how the state was set. */
const GCD_STATES: Record<string, [state: string, history: string]> = {
  l: ['not set', 'not set'],
  p: ['denied', 'denied by default'],
  q: ['denied', 'denied by default and update'],
  t: ['granted', 'granted by default'],
  r: ['granted', 'denied by default, granted by update'],
  m: ['denied', 'denied by update, no default'],
  n: ['granted', 'granted by update, no default'],
  u: ['denied', 'granted by default, denied by update'],
  v: ['granted', 'granted by default and update'],
}

/** Names of the services that `dma_cps` lists by letter. */
const SERVICES: Record<string, string> = {
  s: 'Search',
  y: 'YouTube',
  p: 'Play',
  h: 'Shopping',
  a: 'Ads',
  m: 'Maps',
}

/** Converts a parameter value to consent parameters; null when the value is not recognised. */
type Reader = (text: string) => Params | null

/** Returns a reader for a parameter whose value stands for a single word. */
function word(key: string, words: Params): Reader {
  return (text) => {
    const found = Object.hasOwn(words, text) ? words[text] : undefined
    return found === undefined ? null : { [key]: found }
  }
}

const YES_NO = { '1': 'yes', true: 'yes', '0': 'no', false: 'no' }
const APPLIES = { '1': 'applies', true: 'applies', '0': 'does not apply', false: 'does not apply' }
const NON_PERSONALIZED = word('consent.personalized_ads', { '1': 'denied', '0': 'granted' })
const GDPR = word('consent.gdpr', APPLIES)

/**
 * Parameters of different vendors, each with its reader. If two parameters in a request have the same meaning, the
 * first one in this list is used. For the meaning of Google's parameters, see
 * https://pietromingotti.com/consent-mode-parameters/
 */
const READERS: readonly (readonly [key: string, read: Reader])[] = [
  ['npa', NON_PERSONALIZED],
  ['_npa', NON_PERSONALIZED],
  ['gcu', word('consent.updated', { '1': 'yes' })],
  ['dma', word('consent.dma', APPLIES)],
  ['dma_cps', readServices],
  // Parameter of Microsoft's tag: https://help.ads.microsoft.com/apex/index/3/en/60119
  ['asc', word('consent.ad_storage', { G: 'granted', D: 'denied' })],
  ['gdpr', GDPR],
  ['gdprApplies', GDPR],
  ['gdpr_consent', readTcString],
  ['gdprConsent', readTcString],
  ['gdpr_consent_string', readTcString],
  ['consent_string', readTcString],
  ['tc_string', readTcString],
  ['tcString', readTcString],
  ['euconsent', readTcString],
  ['us_privacy', readUsPrivacy],
  ['usPrivacy', readUsPrivacy],
  ['uspString', readUsPrivacy],
  ['usp_consent', readUsPrivacy],
  ['ccpa', readUsPrivacy],
  ['gpp', readGpp],
  ['gpp_string', readGpp],
  ['gpp_sid', sectionsInForce],
  ['gpc', word('consent.gpc', YES_NO)],
]

/**
 * Returns the consent signals that a request to any vendor contains, as parameters: `consent.ad_storage = "denied"`,
 * `consent.ad_storage.history = "denied by default"`, `consent.tcf.purposes = "1,3"`, `consent.us_privacy.sale = "opted
 * out"`. Signals that are missing or have an unknown format are omitted. Google documents neither `gcs` nor `gcd`. The
 * letters are taken from https://www.simoahava.com/analytics/consent-mode-v2-google-tags/
 */
export function readConsent(sent: Params): Params {
  const words: Params = {}
  if ('gcs' in sent || 'gcd' in sent) addConsentMode(words, sent)
  for (const [key, read] of READERS) {
    const text = sent[key]
    if (text) addMissing(words, lastRead(read, text))
  }
  return words
}

/**
 * Adds the parameters returned by `readConsent` to an event's parameters, up to the limit. Existing parameters are not
 * replaced.
 */
export function addConsent(params: Params): void {
  const words = Object.entries(readConsent(params))
  if (words.length === 0) return
  let left = MAX_PARAMS - Object.keys(params).length
  for (const [key, text] of words) {
    if (left-- <= 0) return
    params[key] ??= text
  }
}

function addMissing(words: Params, more: Params | null): void {
  for (const key in more) words[key] ??= more[key] ?? ''
}

let last: { read: Reader; text: string; words: Params | null } | null = null

/**
 * Caches the last result of each reader, because all events in a batch contain the same strings, some of which are
 * long.
 */
function lastRead(read: Reader, text: string): Params | null {
  if (last?.read !== read || last.text !== text) last = { read, text, words: read(text) }
  return last.words
}

function addConsentMode(words: Params, { gcs, gcd }: Params): void {
  // `gcs` consists of `G1` and one character per signal. `gcd` consists of `1`, one character, and then a letter and
  // another character per signal.
  const [, ...basic] = /^G1([01-])([01-])/.exec(gcs ?? '') ?? []
  const [, ...detailed] = /^1.([a-z]).([a-z]).([a-z]).([a-z])/.exec(gcd ?? '') ?? []
  for (const [index, signal] of SIGNALS.entries()) {
    const [known, history] = GCD_STATES[detailed[index] ?? ''] ?? []
    const state = stateOf(GCS_STATES[basic[index] ?? ''], known)
    if (state) words[`consent.${signal}`] = state
    if (history) words[`consent.${signal}.history`] = history
  }
}

/**
 * Returns the state that results from `gcs` and `gcd`. A choice (granted or denied) takes precedence over any other
 * state, and `gcs` over `gcd`.
 */
function stateOf(basic: string | undefined, detailed: string | undefined): string | undefined {
  const isChoice = (state: string | undefined) => state === 'granted' || state === 'denied'
  if (isChoice(basic)) return basic
  return isChoice(detailed) ? detailed : (basic ?? detailed)
}

/** Returns the names of the services. `-` means that there are none. Unknown letters are returned unchanged. */
function readServices(text: string): Params | null {
  if (!/^(?:-|[a-z]{1,20})$/.test(text)) return null
  const names = text === '-' ? [] : [...text].map((letter) => SERVICES[letter] ?? letter)
  return { 'consent.dma_services': names.join() || 'none' }
}

function sectionsInForce(text: string): Params | null {
  const names = readSectionIds(text)
  return names === null ? null : { 'consent.gpp.applicable': names }
}
