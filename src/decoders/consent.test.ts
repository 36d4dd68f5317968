import { expect, test } from 'bun:test'
import { readConsent } from './consent.ts'

const cases: [sent: Record<string, string>, words: Record<string, string>][] = [
  [{}, {}],
  [{ gcs: 'G111' }, { 'gcs.ad_storage': 'granted', 'gcs.analytics_storage': 'granted' }],
  [{ gcs: 'G100' }, { 'gcs.ad_storage': 'denied', 'gcs.analytics_storage': 'denied' }],
  [{ gcs: 'G1--' }, { 'gcs.ad_storage': 'not required', 'gcs.analytics_storage': 'not required' }],
  [{ gcs: 'G1' }, {}],
  [
    { gcd: '11t1r1p1u5' },
    {
      'gcd.ad_storage': 'granted by default',
      'gcd.analytics_storage': 'denied by default, granted by update',
      'gcd.ad_user_data': 'denied by default',
      'gcd.ad_personalization': 'granted by default, denied by update',
    },
  ],
  [
    { gcd: '13q3m3n3v1l1' },
    {
      'gcd.ad_storage': 'denied by default and update',
      'gcd.analytics_storage': 'denied by update, no default',
      'gcd.ad_user_data': 'granted by update, no default',
      'gcd.ad_personalization': 'granted by default and update',
    },
  ],
  // A letter that nobody knows says nothing; its neighbours still do.
  [
    { gcd: '13l3z3lPl1' },
    {
      'gcd.ad_storage': 'not set',
      'gcd.ad_user_data': 'not set',
      'gcd.ad_personalization': 'not set',
    },
  ],
  [{ gcd: '13' }, {}],
]

test.each(cases)('%j', (sent, words) => {
  expect(readConsent(sent)).toEqual(words)
})
