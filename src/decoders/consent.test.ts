import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { addConsent, readConsent } from './consent.ts'
import { emptyParams, MAX_PARAMS } from './params.ts'

type Case = [sent: Record<string, string>, words: Record<string, string>]

const storage = (ads: string, analytics: string) => ({
  'consent.ad_storage': ads,
  'consent.analytics_storage': analytics,
})

const consentMode: Case[] = [
  [{}, {}],
  [{ gcs: 'G111' }, storage('granted', 'granted')],
  [{ gcs: 'G100' }, storage('denied', 'denied')],
  [{ gcs: 'G1--' }, storage('not required', 'not required')],
  [{ gcs: 'G1' }, {}],
  [
    { gcd: '11t1r1p1u5' },
    {
      ...storage('granted', 'granted'),
      'consent.ad_user_data': 'denied',
      'consent.ad_personalization': 'denied',
      'consent.ad_storage.history': 'granted by default',
      'consent.analytics_storage.history': 'denied by default, granted by update',
      'consent.ad_user_data.history': 'denied by default',
      'consent.ad_personalization.history': 'granted by default, denied by update',
    },
  ],
  [
    { gcd: '13q3m3n3v1l1' },
    {
      ...storage('denied', 'denied'),
      'consent.ad_user_data': 'granted',
      'consent.ad_personalization': 'granted',
      'consent.ad_storage.history': 'denied by default and update',
      'consent.analytics_storage.history': 'denied by update, no default',
      'consent.ad_user_data.history': 'granted by update, no default',
      'consent.ad_personalization.history': 'granted by default and update',
    },
  ],
  // An unknown letter is ignored, and the letters around it are still read. A signal that one parameter lacks may be in
  // the other.
  [
    { gcs: 'G101', gcd: '13l3z3lPl1' },
    {
      ...storage('denied', 'granted'),
      'consent.ad_user_data': 'not set',
      'consent.ad_personalization': 'not set',
      'consent.ad_storage.history': 'not set',
      'consent.ad_user_data.history': 'not set',
      'consent.ad_personalization.history': 'not set',
    },
  ],
  [{ gcd: '13' }, {}],
  [{ asc: 'D' }, { 'consent.ad_storage': 'denied' }],
  [{ gcs: 'G111', asc: 'D' }, storage('granted', 'granted')],
]

const flags: Case[] = [
  [{ npa: '1' }, { 'consent.personalized_ads': 'denied' }],
  [{ _npa: '0' }, { 'consent.personalized_ads': 'granted' }],
  [{ gcu: '1' }, { 'consent.updated': 'yes' }],
  [
    { dma: '1', dma_cps: 'syph' },
    { 'consent.dma': 'applies', 'consent.dma_services': 'Search,YouTube,Play,Shopping' },
  ],
  [
    { dma: '0', dma_cps: '-' },
    { 'consent.dma': 'does not apply', 'consent.dma_services': 'none' },
  ],
  [{ dma_cps: 'ax' }, { 'consent.dma_services': 'Ads,x' }],
  [{ dma_cps: '%' }, {}],
  [{ gdpr: '1' }, { 'consent.gdpr': 'applies' }],
  [{ gdprApplies: 'false' }, { 'consent.gdpr': 'does not apply' }],
  [{ gpc: '1' }, { 'consent.gpc': 'yes' }],
  [{ gpc: 'toString', gdpr: '' }, {}],
]

const US = 'consent.us_privacy'
const usPrivacy: Case[] = [
  [
    { us_privacy: '1YNN' },
    { [`${US}.notice`]: 'given', [`${US}.sale`]: 'not opted out', [`${US}.lspa`]: 'not covered' },
  ],
  [{ uspString: '1nyy' }, { [`${US}.notice`]: 'not given', [`${US}.sale`]: 'opted out', [`${US}.lspa`]: 'covered' }],
  [
    { us_privacy: '1---' },
    { [`${US}.notice`]: 'not applicable', [`${US}.sale`]: 'not applicable', [`${US}.lspa`]: 'not applicable' },
  ],
  [{ us_privacy: '2YNN' }, {}],
  // A placeholder that has not been replaced with a value.
  [{ us_privacy: '[us_privacy]', gdpr_consent: '{GDPR_CONSENT_755}' }, {}],
]

// These strings were created with the IAB's own libraries (@iabtechlabtcf/core, @iabgpp/cmpapi).
const tcf = (vendors: string, disclosed = 'none') => ({
  'consent.tcf.version': '2',
  'consent.tcf.framework': 'TCF 2.2',
  'consent.tcf.policy_version': '4',
  'consent.tcf.cmp': '28',
  'consent.tcf.created': '2024-05-20',
  'consent.tcf.updated': '2024-06-01',
  'consent.tcf.purposes': '1,3,4,10',
  'consent.tcf.legitimate_interests': '2,7,9',
  'consent.tcf.special_features': '1',
  'consent.tcf.vendors': vendors,
  'consent.tcf.disclosed_vendors': disclosed,
})
const TC = 'CP-6bkAP_h-0AAcADBENAwEoALBAAEKAAAYg'
const SINGLE_VENDORS = `${TC}IAQBQABAAGAAQAvMCAAAAAAA`
const strings: Case[] = [
  [{ gdpr_consent: `${SINGLE_VENDORS}.IAAA.YAAAAAAAAAAA` }, tcf('5', '0 vendors')],
  [{ tcString: `${TC}HCQAoAAgAJAAYDhAAAAAAAAA.IAAA` }, tcf('899', '0 vendors')],
  [{ tc_string: `${TC}AAAAAAAA` }, tcf('0')],
  [{ consent_string: `${TC}CVqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqgAAAAAAA` }, tcf('150')],
  [{ gdpr_consent: SINGLE_VENDORS.slice(0, 40) }, {}],
  [{ gdpr_consent: 'BOEFEAyOEFEAyAHABDENAI4AAAB9vABAASA' }, {}],
  [{ gdpr_consent: 'C' }, {}],
  [{ gdpr_consent: 'CP not base64' }, {}],
  [
    { gpp: 'DBABLA~CEAaAAAAAABA.YA', gpp_sid: '7' },
    {
      'consent.gpp.sections': 'usnat',
      'consent.gpp.applicable': 'usnat',
      'consent.usnat.sale': 'opted out',
      'consent.usnat.sharing': 'not opted out',
      'consent.usnat.targeted_advertising': 'not opted out',
      'consent.usnat.gpc': 'yes',
    },
  ],
  [
    { gpp: 'DBACTMA~1YNN~BAkAAABA', gpp_sid: '6,8' },
    {
      'consent.gpp.sections': 'uspv1,usca',
      'consent.gpp.applicable': 'uspv1,usca',
      [`${US}.notice`]: 'given',
      [`${US}.sale`]: 'not opted out',
      [`${US}.lspa`]: 'not covered',
      'consent.usca.sale': 'not opted out',
      'consent.usca.sharing': 'opted out',
    },
  ],
  [
    { gpp: 'DBADRmBg~BAUAABA~BAGAAAQA~BQCQ.QA', gpp_sid: '-1' },
    {
      'consent.gpp.sections': 'usva,usut,usmd',
      'consent.gpp.applicable': 'none',
      'consent.usva.sale': 'opted out',
      'consent.usva.targeted_advertising': 'opted out',
      'consent.usut.sale': 'opted out',
      'consent.usut.targeted_advertising': 'not opted out',
      'consent.usmd.sale': 'not opted out',
      'consent.usmd.targeted_advertising': 'opted out',
      'consent.usmd.gpc': 'no',
    },
  ],
  [{ gpp: `DBABMA~${SINGLE_VENDORS}` }, { 'consent.gpp.sections': 'tcfeuv2', ...tcf('5') }],
  [
    { gpp: 'DBAA', gpp_sid: '0' },
    { 'consent.gpp.sections': 'none', 'consent.gpp.applicable': 'none' },
  ],
  [
    { gpp: 'DBABLA', gpp_sid: '99' },
    { 'consent.gpp.sections': 'usnat', 'consent.gpp.applicable': '99' },
  ],
  [{ gpp: 'D', gpp_sid: 'seven' }, {}],
]

describe('readConsent', () => {
  test.each([...consentMode, ...flags, ...usPrivacy, ...strings])('describes the consent in %j', (sent, words) => {
    expect(readConsent(sent)).toEqual(words)
  })
})

/** Returns a string of bits as base64url, padded to whole bytes. */
function packed(bits: string): string {
  const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, '0')
  return Buffer.from((whole.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))).toString('base64url')
}
const numberBits = (value: number, length: number) => value.toString(2).padStart(length, '0')

/** Returns the vendor list of a TC string with one bit per vendor. */
const vendorBits = (ids: readonly number[]) => {
  const highest = Math.max(0, ...ids)
  const bits = Array.from({ length: highest }, (_, index) => (ids.includes(index + 1) ? '1' : '0'))
  return `${numberBits(highest, 16)}0${bits.join('')}`
}
/** Returns the same vendor list, with one range for each vendor. */
const vendorRanges = (ids: readonly number[]) =>
  `${numberBits(Math.max(0, ...ids), 16)}1${numberBits(ids.length, 12)}${ids.map((id) => `0${numberBits(id, 16)}`).join('')}`

function coreOf(policy: number, day: string): string {
  const made = numberBits(Date.parse(day) / 100, 36)
  const head = `${numberBits(2, 6)}${made}${made}${numberBits(28, 12)}${'0'.repeat(42)}${numberBits(policy, 6)}00`
  return packed(`${head}${'0'.repeat(12 + 24 + 24 + 13)}${vendorBits([1])}`)
}
const DISCLOSING = packed(`001${vendorBits([1, 2, 10])}`)

describe('the version and disclosed vendors of a TCF string', () => {
  const FRAMEWORK = 'consent.tcf.framework'
  const DISCLOSED = 'consent.tcf.disclosed_vendors'
  const MISSING = 'missing: invalid since 2026-03-01'

  test.each<[policy: number, day: string, segments: string[], framework: string | undefined, disclosed: string]>([
    [2, '2020-02-20', [], 'TCF 2.0', 'none'],
    [2, '2026-06-26', [], 'TCF 2.0', 'none'],
    [3, '2021-06-26', [], undefined, 'none'],
    [4, '2026-06-26', [], 'TCF 2.2', 'none'],
    [4, '2024-06-26', [DISCLOSING], 'TCF 2.2', '3 vendors'],
    [5, '2026-02-28', [], 'TCF 2.2', 'none'],
    [5, '2026-03-01', [], 'TCF 2.2', MISSING],
    [5, '2026-03-01', [DISCLOSING], 'TCF 2.3', '3 vendors'],
    [5, '2026-03-01', [packed('011'.padEnd(30, '0')), DISCLOSING], 'TCF 2.3', '3 vendors'],
    [5, '2026-03-01', [packed(`010${vendorBits([1])}`)], 'TCF 2.2', MISSING],
    [5, '2026-03-01', [packed(`001${vendorRanges([7])}`)], 'TCF 2.3', '1 vendor'],
    [5, '2026-03-01', [packed(`001${vendorBits([])}`)], 'TCF 2.3', '0 vendors'],
    [5, '2026-03-01', [DISCLOSING.slice(0, 3)], 'TCF 2.3', 'unreadable'],
    [5, '2026-03-01', [packed(`001${vendorRanges([7, 9])}`.slice(0, 48))], 'TCF 2.3', 'unreadable'],
    [5, '2026-03-01', ['', '%', 'I'], 'TCF 2.2', MISSING],
    [6, '2027-01-01', [], undefined, MISSING],
    [6, '2027-01-01', [DISCLOSING], undefined, '3 vendors'],
  ])(
    'are read for policy version %d, created on %s, with segments %j',
    (policy, day, segments, framework, disclosed) => {
      const text = [coreOf(policy, day), ...segments].join('.')
      for (const sent of [{ gdpr_consent: text }, { gpp: `DBABMA~${text}` }]) {
        const words = readConsent(sent)
        expect(words['consent.tcf.version']).toBe('2')
        expect(words['consent.tcf.policy_version']).toBe(String(policy))
        expect(words['consent.tcf.created']).toBe(day)
        expect([words[FRAMEWORK], words[DISCLOSED]]).toEqual([framework, disclosed])
      }
    },
  )

  test('have the same vendor count as bits and as ranges', () => {
    const ids = fc.uniqueArray(fc.integer({ min: 1, max: 1500 }), { maxLength: 60 })
    fc.assert(
      fc.property(ids, (vendors) => {
        for (const list of [vendorBits(vendors), vendorRanges(vendors)]) {
          const words = readConsent({ gdpr_consent: `${coreOf(5, '2026-03-01')}.${packed(`001${list}`)}` })
          expect(words[DISCLOSED]).toBe(`${vendors.length} ${vendors.length === 1 ? 'vendor' : 'vendors'}`)
        }
      }),
    )
  })
})

test('readConsent never throws, and returns a short result', () => {
  const keys = ['gcs', 'gcd', 'npa', 'dma_cps', 'asc', 'gdpr', 'gdpr_consent', 'us_privacy', 'gpp', 'gpp_sid', 'gpc']
  const base64 = fc.string({ unit: fc.constantFrom(...'AB_-~.CDz019'), maxLength: 400 })
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 40 }),
    base64,
    base64.map((end) => `C${end}`),
    base64.map((end) => `DB${end}`),
    fc.constantFrom('constructor', '__proto__', `C${'_'.repeat(3999)}`, `DB${'_'.repeat(3998)}`),
  )
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...keys), text), (sent) => {
      const words = Object.entries(readConsent(sent))
      expect(words.length).toBeLessThan(120)
      for (const [key, value] of words) expect([key.startsWith('consent.'), value.length < 200]).toEqual([true, true])
    }),
    { numRuns: 3000 },
  )
})

describe('consent added to an event', () => {
  test('does not replace existing parameters', () => {
    const params = { gcs: 'G100', 'consent.ad_storage': 'granted' }
    addConsent(params)
    expect(params).toEqual({ gcs: 'G100', ...storage('granted', 'denied') })
  })

  test('respects the parameter limit', () => {
    const params = emptyParams()
    params.gcs = 'G100'
    for (let index = 2; index < MAX_PARAMS; index++) params[`k${index}`] = ''
    addConsent(params)
    expect(Object.keys(params)).toHaveLength(MAX_PARAMS)
    expect(params['consent.ad_storage']).toBe('denied')
  })
})
